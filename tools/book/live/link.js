// Part of JupyterLite's page. An address that ends in #Name:state opens a notebook; here its cells run as far as
// the first that makes such a panel, which then reads the state (copy.js of the package).

const opened = performance.getEntriesByType("navigation")[0]?.name ?? location; // JupyterLab changes location
// Names of panels need no decoding; what follows may have been cut, and is read in copy.js.
const name = /^#(\w+)(?:(?:@|%40)[\w-]+)?(?::|%3a)/i.exec(new URL(opened).hash)?.[1];

const until = async (there) => {
  for (;;) {
    const found = there();
    if (found) return found;
    await new Promise((go) => setTimeout(go, 100));
  }
};

async function run() {
  const app = await until(() => globalThis.jupyterapp);
  const opens = () => app.shell.currentWidget;
  const { content, sessionContext } = await until(() => opens()?.context?.isReady && opens().content?.widgets && opens());
  const makes = new RegExp(`\\b${name}\\(`);
  const number = content.widgets.findIndex(({ model: { type, sharedModel } }) =>
    type === "code" && makes.test(sharedModel.source));
  if (number < 0) return;
  const said = await app.commands.execute("apputils:notify", {
    message: "The panel of this link opens: Python starts, and the cells above it run.",
    type: "in-progress",
    options: { autoClose: false },
  });
  await sessionContext.ready;
  content.activeCellIndex = number;
  if (number) await app.commands.execute("notebook:run-all-above");
  await app.commands.execute("notebook:run-cell");
  await content.scrollToItem(number, "start");
  await app.commands.execute("apputils:dismiss-notification", { id: said });
}

if (name) run();

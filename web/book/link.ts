/**
 * Part of JupyterLite's page. An address that ends in #Name:state opens a notebook; here its cells
 * run as far as the first that makes such a panel, which then reads the state
 * (kit/panel/address.ts).
 */

/** What is used of JupyterLab. */
interface Lab {
  shell: { currentWidget: NotebookPanel | null };
  commands: { execute(name: string, options?: object): Promise<unknown> };
}

interface NotebookPanel {
  context?: { isReady: boolean };
  content?: Notebook;
  sessionContext: { ready: Promise<void> };
}

interface Notebook {
  widgets?: { model: { type: string; sharedModel: { source: string } } }[];
  activeCellIndex: number;
  scrollToItem(index: number, align: "start"): Promise<void>;
}

declare global {
  var jupyterapp: Lab | undefined;
}

const LOOK_EVERY = 100; // milliseconds

/** JupyterLab changes location. */
const opened = performance.getEntriesByType("navigation")[0]?.name ?? location.href;
// Names of panels need no decoding; what follows may have been cut, and is read with the state.
const name = /^#(\w+)(?:(?:@|%40)[\w-]+)?(?::|%3a)/i.exec(new URL(opened).hash)?.[1];

async function until<Found>(look: () => Found | null | undefined): Promise<Found> {
  for (;;) {
    const found = look();
    if (found) return found;
    await new Promise((go) => setTimeout(go, LOOK_EVERY));
  }
}

async function run() {
  const { shell, commands } = await until(() => globalThis.jupyterapp);
  const { content, sessionContext } = await until(() => {
    const open = shell.currentWidget;
    if (!open?.context?.isReady || !open.content?.widgets) return null;
    return { content: open.content, sessionContext: open.sessionContext };
  });
  const makes = new RegExp(`\\b${name}\\(`);
  const number = content.widgets!.findIndex(({ model: { type, sharedModel } }) => {
    return type === "code" && makes.test(sharedModel.source);
  });
  if (number < 0) return;
  const id = await commands.execute("apputils:notify", {
    message: "The panel of this link opens: Python starts, and the cells above it run.",
    type: "in-progress",
    options: { autoClose: false },
  });
  await sessionContext.ready;
  content.activeCellIndex = number;
  if (number) await commands.execute("notebook:run-all-above");
  await commands.execute("notebook:run-cell");
  await content.scrollToItem(number, "start");
  await commands.execute("apputils:dismiss-notification", { id });
}

if (name) run();

export {};

// The buttons Copy and Link: Python that opens the panel as it is, or an address of this page that does, on the
// clipboard; where the page may not write there, selected. An address ends in #Name:state, read once, or in the
// static edition #Name@place:state, which names one of several panels of a kind.

const linked = (globalThis.neurovizLinked ??= {
  hash: location.hash || new URL(performance.getEntriesByType("navigation")[0]?.name ?? location).hash,
});

// What can be read of an address: a link may have been cut at "%3", or be of somebody else who writes "100%".
function read(text) {
  return text.replace(/(%[0-9a-f]{2})+/gi, (code) => {
    try { return decodeURIComponent(code); } catch { return code; }
  });
}

// JupyterLab takes path and hash out of the address. With a server of one's own there is nobody to send it to.
function address() {
  const found = new URL(location);
  const notebook = document.querySelector(".lm-TabBar-tab.lm-mod-current[title*='Path: ']")?.title;
  if (notebook) found.searchParams.set("path", /Path: (.*)/.exec(notebook)[1]);
  return found;
}
const hasServer = () => Boolean(document.querySelector("#jupyter-config-data:not([data-jupyter-lite-root])"));

export default {
  initialize({ model }) { // the buttons themselves may never be unfolded
    const wanted = read(linked.hash).match(/^#(\w+)(?:@[\w-]+)?:(.*)$/);
    if (wanted?.[1] !== model.get("name")) return;
    linked.hash = "";
    model.send({ state: wanted[2] });
  },
  render({ model, el }) {
    el.classList.add("nv-copy");
    const name = model.get("name");
    const field = document.createElement("input");
    field.readOnly = true;
    field.hidden = true;
    let last, timer = 0;
    const putBack = () => { field.hidden = true; for (const one of buttons) one.hidden = false; };
    const select = (text) => {
      field.value = text;
      field.hidden = false;
      for (const one of buttons) one.hidden = true;
      field.focus();
      field.select();
    };
    field.addEventListener("blur", putBack);
    field.addEventListener("keydown", (event) => {
      event.stopPropagation(); // Ctrl+C is about the text, not about the notebook's cell
      if (event.key === "Escape" || event.key === "Enter") { putBack(); last.focus(); }
    });
    const make = (words, title, text) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "lm-Widget jupyter-widgets jupyter-button widget-button";
      button.textContent = words;
      button.title = title;
      button.addEventListener("click", async () => {
        last = button;
        const copied = text(el.closest(".nv").querySelector(".nv-state input").placeholder);
        field.setAttribute("aria-label", `${title}: press Ctrl+C`);
        try { await navigator.clipboard.writeText(copied); } catch { return select(copied); }
        button.textContent = "Copied";
        clearTimeout(timer);
        timer = setTimeout(() => { button.textContent = words; }, 2000);
      });
      return button;
    };
    const buttons = [make("Copy", "this panel as Python, with its state",
      (state) => `${name}(state=${JSON.stringify(state)})`)];
    const place = () => el.closest(".nv-panel")?.id.replace(/^/, "@") ?? "";
    if (!hasServer()) buttons.push(make("Link", "an address that opens this panel in its state", (state) =>
      Object.assign(address(), { hash: `${name}${place()}:${encodeURIComponent(state)}` }).href));
    el.append(...buttons, field);
    return () => clearTimeout(timer);
  },
};

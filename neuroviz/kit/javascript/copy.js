// The button Copy: Python that opens the panel as it is, on the clipboard; where the page may not, selected.

export default {
  render({ model, el }) {
    el.classList.add("nv-copy");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "lm-Widget jupyter-widgets jupyter-button widget-button";
    button.textContent = "Copy";
    button.title = "copy this panel as Python, with its state";
    const field = document.createElement("input");
    field.readOnly = true;
    field.hidden = true;
    field.setAttribute("aria-label", "this panel as Python: press Ctrl+C");
    let timer = 0;
    const say = (words) => {
      button.textContent = words;
      clearTimeout(timer);
      timer = setTimeout(() => { button.textContent = "Copy"; }, 2000);
    };
    const putBack = () => { field.hidden = true; button.hidden = false; };
    const select = (text) => {
      field.value = text;
      field.hidden = false;
      button.hidden = true;
      field.focus();
      field.select();
    };
    field.addEventListener("blur", putBack);
    field.addEventListener("keydown", (event) => {
      event.stopPropagation(); // Ctrl+C is about the text, not about the notebook's cell
      if (event.key === "Escape" || event.key === "Enter") { putBack(); button.focus(); }
    });
    button.addEventListener("click", async () => {
      const state = el.closest(".nv").querySelector(".nv-state input").placeholder;
      const text = `${model.get("name")}(state=${JSON.stringify(state)})`;
      try { await navigator.clipboard.writeText(text); } catch { return select(text); }
      say("Copied");
    });
    el.append(button, field);
    return () => clearTimeout(timer);
  },
};

/** A button that looks like those of ipywidgets. */
export function buttonOf(words: string, title: string, press: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "lm-Widget jupyter-widgets jupyter-button widget-button";
  button.textContent = words;
  button.title = title;
  button.addEventListener("click", press);
  return button;
}

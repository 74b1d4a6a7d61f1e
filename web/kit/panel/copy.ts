/**
 * The buttons Copy and Link: Python that opens the panel as it is, or an address of this page that
 * does, on the clipboard; where the page may not write there, selected.
 */
import { addressOf, hasServer, stateFor } from "./address";
import { buttonOf } from "./button";
import type { Model } from "./model";

const SAYS_COPIED = 2000; // milliseconds

type CopyModel = Model<{ name: string }>;

export default {
  // The buttons themselves may never be unfolded.
  initialize({ model }: { model: CopyModel }) {
    const state = stateFor(model.get("name"));
    if (state !== null) model.send({ state });
  },

  render({ model, el }: { model: CopyModel; el: HTMLElement }) {
    const name = model.get("name");
    const buttons: HTMLButtonElement[] = [];
    let timer = 0;

    function add(words: string, title: string, textOf: (state: string) => string) {
      const button = buttonOf(words, title, async () => {
        const text = textOf(stateOf(el));
        try {
          await navigator.clipboard.writeText(text);
        } catch {
          return field.select(text, `${title}: press Ctrl+C`, button);
        }
        button.textContent = "Copied";
        clearTimeout(timer);
        timer = window.setTimeout(() => (button.textContent = words), SAYS_COPIED);
      });
      buttons.push(button);
    }

    add("Copy", "this panel as Python, with its state", (state) => {
      return `${name}(state=${JSON.stringify(state)})`;
    });
    if (!hasServer()) {
      add("Link", "an address that opens this panel in its state", (state) => {
        return addressOf(name, state, el.closest(".nv-panel")?.id);
      });
    }
    const field = fieldBeside(buttons);
    el.classList.add("nv-copy");
    el.append(...buttons, field.element);
    return () => clearTimeout(timer);
  },
};

/** The state of the panel around an element: the text itself may be unfinished. */
function stateOf(element: Element): string {
  const text = element.closest(".nv")!.querySelector<HTMLInputElement>(".nv-state input")!;
  return text.placeholder;
}

/** A field in the place of the buttons, for a text that the reader has to copy. */
function fieldBeside(buttons: HTMLButtonElement[]) {
  const field = document.createElement("input");
  field.readOnly = true;
  field.hidden = true;
  let pressed: HTMLButtonElement | undefined;

  function show(isShown: boolean) {
    field.hidden = !isShown;
    for (const button of buttons) button.hidden = isShown;
  }

  field.addEventListener("blur", () => show(false));
  field.addEventListener("keydown", (event) => {
    event.stopPropagation(); // Ctrl+C is about the text, not about the notebook's cell
    if (event.key !== "Escape" && event.key !== "Enter") return;
    show(false);
    pressed?.focus();
  });
  return {
    element: field,
    select(text: string, name: string, button: HTMLButtonElement) {
      pressed = button;
      field.value = text;
      field.setAttribute("aria-label", name);
      show(true);
      field.focus();
      field.select();
    },
  };
}

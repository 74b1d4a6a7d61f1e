/** The sliders of ipywidgets, which are those of noUiSlider: what their handles lack. */

/** A slider of noUiSlider, as its element has it. */
export interface Slider extends HTMLElement {
  noUiSlider?: {
    options: { step?: number };
    get(unencoded: true): number;
    setHandle(handle: number, value: number, isTold: boolean): void;
  };
}

/** Names the handles in these controls, also those that come later. Returns what ends that. */
export function keepNamed(row: Element): () => void {
  nameHandles(row);
  row.addEventListener("keydown", toItsEnds, true);
  const observer = new MutationObserver((records) => {
    // A step writes a number.
    if (!records.every(({ target }) => isInReadout(target))) nameHandles(row);
  });
  observer.observe(row, {
    subtree: true,
    childList: true,
    characterData: true,
    attributeFilter: ["disabled"],
  });
  return () => {
    observer.disconnect();
    row.removeEventListener("keydown", toItsEnds, true);
  };
}

function isInReadout(node: Node): boolean {
  const element = node instanceof Element ? node : node.parentElement;
  return element?.closest(".widget-readout") != null;
}

/**
 * ipywidgets leaves the handles and number boxes of sliders nameless; who hears the page needs
 * their names.
 */
function nameHandles(row: Element) {
  for (const slider of row.querySelectorAll(".widget-slider")) {
    const name = slider.querySelector(".widget-label")?.textContent.trim();
    if (!name) continue;
    const isStill = slider.querySelector(".noUi-target")?.hasAttribute("disabled") ?? false;
    for (const handle of slider.querySelectorAll(".noUi-handle")) {
      put(handle, "aria-label", name);
      put(handle, "aria-disabled", String(isStill));
      put(handle, "tabindex", isStill ? "-1" : "0");
    }
    const box = slider.querySelector(".widget-readout");
    if (!box) continue;
    put(box, "role", "textbox");
    put(box, "aria-label", `${name}, as a number`);
  }
}

/** Writes nothing where nothing changes: the observer would hear it. */
function put(element: Element, name: string, value: string) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * noUiSlider 15 takes Home and End to the ends that a slider had at first. So the handle goes to
 * one step before its present end, and an arrow key does the rest.
 */
function toItsEnds(event: Event) {
  const { key, target } = event as KeyboardEvent;
  if (key !== "End" && key !== "Home") return;
  const handle = (target as Element).closest<HTMLElement>(".noUi-handle");
  const slider = handle?.closest<Slider>(".noUi-target")?.noUiSlider;
  if (!handle || !slider) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const step = slider.options.step ?? 0;
  const before =
    key === "End" ? Number(handle.ariaValueMax) - step : Number(handle.ariaValueMin) + step;
  slider.setHandle(Number(handle.dataset.handle), before, false);
  const arrow = key === "End" ? "ArrowRight" : "ArrowLeft";
  handle.dispatchEvent(new KeyboardEvent("keydown", { key: arrow, bubbles: true }));
}

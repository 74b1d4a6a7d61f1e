/** Whether the page is dark; on paper it is light. */
export type Mode = "light" | "dark";

/** Calls what draws the page whenever it has become dark or light. */
export function onTurn(turn: () => void) {
  new MutationObserver(turn).observe(document.body, { attributeFilter: ["data-theme"] });
  darkSystem().addEventListener("change", turn);
}

const darkSystem = () => matchMedia("(prefers-color-scheme: dark)");

/** What the reader has chosen, or the computer. */
export function chosenMode(): Mode {
  const chosen = document.body.dataset.theme;
  if (chosen === "dark" || chosen === "light") return chosen;
  return darkSystem().matches ? "dark" : "light";
}

let isPrinting = false;

export const isDark = () => chosenMode() === "dark" && !isPrinting;

/** On paper: light, everything drawn as far as it was loaded, and nothing folded. */
export function readyForPaper(redraw: () => void) {
  let folded: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    isPrinting = true;
    folded = [...document.querySelectorAll<HTMLDetailsElement>("article details:not([open])")];
    for (const details of folded) details.open = true;
    redraw();
  });
  addEventListener("afterprint", () => {
    isPrinting = false;
    for (const details of folded) details.open = false;
    redraw();
  });
}

/**
 * What is wider than the page scrolls inside it. Where something does, the keys can reach it, and
 * it fades out on the side where there is more; where all is seen, Tab does not stop.
 */
const FIGURE = "Figure of this panel";
const SCROLLERS: Record<string, string> = {
  pre: "Code, wider than the page",
  ".table-wrapper": "Table, wider than the page",
  ".nv-formula": "Formula, wider than the page",
  ".nv-scroll": FIGURE,
};
const NEAR = 1; // pixel: widths are rounded
const FADES = 8; // pixels: of less nothing is hidden that one would read

export function followScrollers() {
  for (const [selector, name] of Object.entries(SCROLLERS)) {
    for (const one of document.querySelectorAll<HTMLElement>(`article ${selector}`)) {
      follow(one, name);
    }
  }
}

/** The chart of a panel that answers, once it is there; a scene fits the page. */
export function followChart(place: HTMLElement) {
  const seen = new MutationObserver(() => {
    const figure = place.querySelector<HTMLElement>(".nv-figure:has(.nv-plotly)");
    if (!figure) return;
    seen.disconnect();
    follow(figure, FIGURE);
  });
  seen.observe(place, { childList: true, subtree: true });
}

function follow(one: HTMLElement, name: string) {
  const look = () => mark(one, name);
  const resized = new ResizeObserver(look);
  resized.observe(one);
  // a drawing that has come, or another font
  for (const child of one.children) resized.observe(child);
  one.addEventListener("scroll", look, { passive: true });
}

function mark(one: HTMLElement, name: string) {
  const hidden = one.scrollWidth - one.clientWidth;
  const isWide = hidden > NEAR;
  one.classList.toggle("nv-more-before", one.scrollLeft > FADES);
  one.classList.toggle("nv-more-after", one.scrollLeft < hidden - FADES);
  if (!isWide) {
    if (one.ariaLabel === name) one.ariaLabel = null;
    one.removeAttribute("role");
    return one.removeAttribute("tabindex");
  }
  one.tabIndex = 0;
  one.setAttribute("role", "group");
  if (!one.ariaLabel) one.ariaLabel = name;
}

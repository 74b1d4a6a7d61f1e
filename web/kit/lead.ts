/** A button that stands elsewhere on the page leads to its panel, and the panel back to it. */
const BACK = "nv-back";

/** Brings a panel to the top of the window, with a button that leads back. */
export function lead(panel: HTMLElement, from: HTMLElement) {
  panel.querySelector(`:scope > .${BACK}`)?.remove();
  const back = document.createElement("button");
  back.type = "button";
  back.className = BACK;
  back.textContent = "Back to the text";
  back.addEventListener("click", () => {
    back.remove();
    from.scrollIntoView({ block: "center", behavior: "instant" });
    from.focus({ preventScroll: true });
  });
  panel.prepend(back);
  // No smooth scroll: what it passes comes into sight, grows, and pushes the panel away.
  panel.scrollIntoView({ block: "start", behavior: "instant" });
  back.focus({ preventScroll: true });
}

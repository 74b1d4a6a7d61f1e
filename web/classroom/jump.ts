/** The way to a question: panels above it grow as they come near, and push it away. */

/** What readers do to scroll by themselves. */
const BY_HAND = ["wheel", "touchmove", "pointerdown", "keydown"];

let leave = () => {};

/** Goes to an element at once, and again whenever the page grows, until somebody scrolls. */
export function goTo(id: string) {
  leave();
  const goal = document.getElementById(id);
  if (!goal) return;
  const go = () => goal.scrollIntoView({ behavior: "instant", block: "start" });
  const growing = new ResizeObserver(go); // looks at once, too
  growing.observe(document.body);
  leave = () => {
    growing.disconnect();
    for (const one of BY_HAND) removeEventListener(one, leave);
  };
  for (const one of BY_HAND) addEventListener(one, leave, { passive: true });
}

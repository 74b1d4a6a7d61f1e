/** The keys of a panel. */

/**
 * A plain key in a panel belongs to the panel: on a slider, "d d" must not delete the notebook's
 * cell. JupyterLab listens on the document, so the window hears first. Returns what ends that.
 */
export function keepKeys(panel: Element): () => void {
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as Element;
    if (!panel.contains(target)) return;
    const forTheNotebook = event.ctrlKey || event.metaKey || event.altKey || event.key === "Escape";
    const runs = event.key === "Enter" && event.shiftKey;
    target.toggleAttribute("data-lm-suppress-shortcuts", !(forTheNotebook || runs));
  };
  window.addEventListener("keydown", onKey, true);
  return () => window.removeEventListener("keydown", onKey, true);
}

/** The drawers at both sides of a narrow page: the theme opens them by a label without a key. */
const LABELS = ".nav-overlay-icon, .toc-overlay-icon";

export function giveDrawersKeys() {
  for (const label of document.querySelectorAll<HTMLLabelElement>(LABELS)) {
    const opener = label.control as HTMLInputElement | null;
    if (!opener) continue;
    label.tabIndex = 0;
    label.role = "button";
    label.ariaLabel = opener.ariaLabel;
    const tell = () => (label.ariaExpanded = String(opener.checked));
    opener.addEventListener("change", tell);
    label.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      label.click();
    });
    tell();
  }
}

/** An element with its words. */
export function made<Kind extends keyof HTMLElementTagNameMap>(
  kind: Kind,
  className = "",
  words = "",
): HTMLElementTagNameMap[Kind] {
  const element = document.createElement(kind);
  element.className = className;
  element.textContent = words;
  return element;
}

/** The guesses of a class as bars; after a second vote both stand side by side. */
import { made } from "../kit/made";
import type { Counted } from "./messages";
import { written } from "./numbers";

/**
 * A table of them, in the order in which they come.
 *
 * @param more what stands at the end of a row, if anything
 */
export function barsOf(counted: Counted, more?: (guess: string) => HTMLElement): HTMLTableElement {
  const table = made("table", counted.choices.length ? "bars has-words" : "bars");
  const hasTwo = counted.totals.length > 1;
  const caption = table.createCaption();
  caption.textContent = hasTwo ? "first vote, then the second" : "";
  const isNamed = counted.bars.some((bar) => bar.isRight || bar.remark);
  const most = Math.max(1, ...counted.bars.flatMap((bar) => bar.counts));
  for (const { guess, counts, isRight, remark } of counted.bars) {
    const row = table.insertRow();
    row.className = isRight ? "right" : "";
    const name = made("th", "", written(guess));
    name.scope = "row";
    row.append(name);
    const bars = row.insertCell();
    bars.className = "lengths";
    for (const [vote, count] of counts.entries()) {
      const line = made("div", `vote-${vote + 1}`);
      const length = made("span", "length");
      length.style.width = `${(100 * count) / most}%`;
      line.append(length, made("span", "count", String(count)));
      bars.append(line);
    }
    const right = isRight ? "✓ the answer. " : "";
    if (isNamed) {
      const cell = row.insertCell();
      cell.className = "remark";
      cell.append(made("div", "", right + (remark ?? "")));
    }
    if (more) row.insertCell().append(more(guess));
  }
  return table;
}

/** Where a question stands, in the words of the page. */
export const placeOf = ({ title, section }: Counted): string =>
  [title, section].filter(Boolean).join(" · ");

/** How many have answered, in words. */
export function countOf({ totals, expected, others, late }: Counted): string {
  const latest = totals[totals.length - 1];
  const which = totals.length > 1 ? " in the second vote" : "";
  const said = [`${latest} of ${expected} have answered${which}`];
  if (others.some((count) => count > 0)) said.push(`other guesses: ${others.join(", then ")}`);
  if (late) said.push(`${late} after the answer`);
  return said.join(", ");
}

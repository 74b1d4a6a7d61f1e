/** Questions of a page that stands alone: a guess is judged here, and its answer opens. */
import { Box } from "../classroom/box";
import type { Asked } from "../classroom/messages";
import { made } from "../kit/made";

/** What the page knows of a question: `pages.question` of tools/book writes it. */
interface Known {
  answer: string;
  /** None where a number is asked for. */
  choices: string[];
  /** Guess → what is to be said of it; of the right one, too, where it is a choice. */
  remarks: Record<string, string>;
}

const NEAR = 5e-4; // numbers that differ by less are one guess, as in a class

/** Puts a fold into a box for a guess; it can be opened without one, too. */
export function askFirst(fold: HTMLDetailsElement, number: number) {
  const known: Known = JSON.parse(fold.dataset.guess!);
  const summary = fold.querySelector("summary")!;
  const place = made("div", "nv-class");
  place.dataset.question = `question-${number}`;
  place.append(...summary.childNodes);
  summary.textContent = "Show the answer";
  fold.before(place);

  const open: Asked = {
    vote: 1,
    guess: null,
    isAsked: true,
    choices: known.choices,
    answer: null,
  };
  const answered = (guess: string | null) => {
    const remark = guess === null ? "" : (known.remarks[guess] ?? "");
    const answer = { value: known.answer, remark, reason: "", folds: [] };
    box.hear({ ...open, guess, isAsked: false, answer });
  };
  const box = new Box(place, async (_, guess) => {
    answered(named(guess, known));
    fold.open = true;
  });
  place.append(fold);
  box.hear(open);
  fold.addEventListener("toggle", () => {
    if (fold.open && !place.classList.contains("is-open")) answered(null);
  });
}

/** A guess as the page writes it, where it is one that the page knows. */
function named(guess: number | string, { answer, remarks }: Known): string {
  if (typeof guess === "string") return guess;
  const others = Object.keys(remarks);
  const same = [answer, ...others].find((one) => Math.abs(Number(one) - guess) < NEAR);
  return same ?? String(guess);
}

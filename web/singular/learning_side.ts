/** Beside the space: three moves with their questions, the answer, and the chart of all layers. */
import { learningChart } from "./learning_chart";
import type { LearningFacts, Move } from "./learning_facts";

export interface SideHands {
  /** To another move. */
  goTo(index: number): void;
  /** One of the choices. */
  guess(index: number): void;
}

export function sideView(host: HTMLElement, { goTo, guess }: SideHands) {
  const side = host.appendChild(element("div", "side"));
  const steps = side.appendChild(element("div", "steps"));
  Object.assign(steps, { role: "group", ariaLabel: "three moves" });
  const question = side.appendChild(element("p", "question"));
  const talkBox = side.appendChild(element("div", "talk"));
  const choices = talkBox.appendChild(element("div", "choices"));
  Object.assign(choices, { role: "group", ariaLabel: "your guess" });
  const answer = talkBox.appendChild(element("p", "answer nv-answer"));
  answer.ariaLive = "polite";

  return {
    chart: learningChart(side),

    open(moves: Move[]) {
      steps.replaceChildren(...moves.map(({ name }, index) => button(name, () => goTo(index))));
    },

    /** The question of a move, with its choices if it is open; null: the target is the reader's. */
    ask({ moves, choices: texts }: LearningFacts, move: number | null, isOpen: boolean) {
      steps.childNodes.forEach((one, index) => {
        (one as HTMLButtonElement).ariaPressed = String(index === move);
      });
      const own = "Your target. Hold it, and the layers follow; let go, and new ones start.";
      question.textContent = move === null ? own : moves[move].asks;
      const open = isOpen ? texts.map((text, index) => button(text, () => guess(index))) : [];
      choices.replaceChildren(...open);
    },

    /** Instead of the choices. */
    offer(next: number) {
      choices.replaceChildren(button("next move →", () => goTo(next)));
    },

    focusChoices() {
      choices.querySelector("button")?.focus({ preventScroll: true });
    },

    hasAnswer: () => answer.textContent !== "",

    answer(words: string) {
      answer.textContent = words;
    },
  };
}

export function button(text: string, press: () => void): HTMLButtonElement {
  const one = element("button", "");
  Object.assign(one, { type: "button", textContent: text });
  one.addEventListener("click", press);
  return one;
}

function element<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className: string) {
  return Object.assign(document.createElement(tag), { className });
}

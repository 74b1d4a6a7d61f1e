/** A question in a page of a class: a guess is locked in, and the answer comes later. */
import { made } from "../kit/made";
import { Refusal, type Answer, type Asked } from "./messages";
import { complaintOn, numberIn, written } from "./numbers";

const WORDS_OF_REFUSALS: Record<number, string> = {
  422: "This number is too large to be counted. Try another one.",
  429: "The class is full, or asks too often. Trying again …",
};
const LOCKED_IN = "Locked in: the answer comes when your teacher shows it. Stay here until then.";
const VOTES_AGAIN = "The class votes again.";
const THE_SAME = "Lock in the same guess, or another one.";
const TOO_LATE = "which came too late to be counted";
const NOT_SENT = "Not sent yet. Trying again …";
const ROUNDED = 5e-4; // the class counts three decimals

/** Whether two numbers, or two choices, are one guess in a class. */
const isSame = (one: string, other: string) =>
  one === other || Math.abs(Number(one) - Number(other)) <= ROUNDED;

/** A guess in a sentence: a choice of several words is no part of it. */
const inWords = (guess: string) => (/\s/.test(guess) ? `“${guess}”` : written(guess));

/** Sends a guess, and resolves once the server has it. */
export type Send = (question: string, guess: number | string, vote: number) => Promise<void>;

export class Box {
  readonly question: string;
  /** What was locked in here, whether the server knows it or not. */
  private locked: number | string | null = null;
  private isOnTheWay = false;
  /** The vote in which it was locked in. */
  private vote = 1;
  private asked: Asked | undefined;
  private readonly form = made("form");
  /** What a guess is made in. */
  private entry: HTMLInputElement | HTMLFieldSetElement | undefined;
  private readonly button = made("button", "", "Lock in");
  private readonly says = made("p", "nv-told");
  private readonly shown = made("div", "nv-shown");
  private isShown = false;
  private read: () => number | string | null = () => null;
  private missing: () => string = () => "";

  constructor(
    private readonly place: HTMLElement,
    private readonly send: Send,
  ) {
    this.question = place.dataset.question!;
    this.form.noValidate = true;
    this.form.ariaLabel = place.textContent.trim();
    this.says.setAttribute("role", "status");
    place.append(this.form, this.says, this.shown);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.lock();
    });
  }

  /** Another class, started again: it gets what is locked in, as its first vote. */
  startAgain() {
    this.vote = 1;
  }

  /** What the server says of this question. */
  hear(asked: Asked) {
    if (!this.asked) this.build(asked.choices);
    this.asked = asked;
    if (asked.vote > this.vote) {
      this.vote = asked.vote;
      this.locked = null; // the class votes again
    }
    this.draw();
  }

  /** A guess that the server does not know: it was started again, or the network was away. */
  get unsent(): number | string | null {
    return this.asked?.isAsked ? this.locked : null;
  }

  private build(choices: string[]) {
    this.entry = choices.length ? this.buildChoices(choices) : this.buildEntry();
    this.form.append(this.button);
  }

  private buildChoices(choices: string[]): HTMLFieldSetElement {
    const all = made("fieldset");
    all.append(made("legend", "", "My guess"));
    for (const choice of choices) {
      const label = made("label");
      const button = made("input");
      button.type = "radio";
      button.name = this.question;
      button.value = choice;
      label.append(button, ` ${choice}`);
      all.append(label);
    }
    this.form.append(all);
    this.missing = () => "Choose one first. Any guess will do.";
    this.read = () => all.querySelector<HTMLInputElement>(":checked")?.value ?? null;
    return all;
  }

  private buildEntry(): HTMLInputElement {
    const label = made("label", "", "My guess ");
    const entry = made("input");
    entry.inputMode = "text"; // an iPhone's keyboard of digits has neither − nor /
    entry.autocomplete = "off";
    entry.maxLength = 16;
    entry.size = 9;
    label.append(entry);
    this.form.append(label);
    this.missing = () => complaintOn(entry.value);
    this.read = () => numberIn(entry.value);
    return entry;
  }

  private async lock() {
    if (!this.asked?.isAsked || this.locked !== null) return;
    const guess = this.read();
    if (guess === null) {
      this.says.textContent = this.missing();
      return;
    }
    this.locked = guess;
    this.draw();
    await this.sendAgain();
  }

  /** Sends what is locked in; the server keeps the first guess of each vote. */
  async sendAgain() {
    const guess = this.unsent;
    if (guess === null || this.isOnTheWay) return;
    this.isOnTheWay = true;
    try {
      await this.send(this.question, guess, this.vote);
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 0;
      if (status === 422) this.locked = null;
      this.draw(WORDS_OF_REFUSALS[status] ?? NOT_SENT);
    } finally {
      this.isOnTheWay = false;
    }
  }

  private draw(trouble = "") {
    const asked = this.asked!;
    const isLocked = this.locked !== null || !asked.isAsked;
    const hasFocus = this.form.contains(document.activeElement);
    this.entry!.disabled = isLocked;
    // The button can do nothing then, but it keeps the focus: a keyboard goes on from here.
    this.button.ariaDisabled = String(isLocked);
    if (isLocked && hasFocus) this.button.focus({ preventScroll: true });
    this.button.textContent = isLocked && asked.guess !== null ? "Locked in" : "Lock in";
    this.form.hidden = asked.guess === null && !asked.isAsked;
    this.says.textContent = trouble || this.words(asked);
    this.place.classList.toggle("is-open", asked.answer !== null);
    if (asked.answer) this.show(asked.answer);
  }

  private words({ guess, isAsked, isLate, vote, answer, isOpen }: Asked): string {
    const said = guess === null ? "" : `You said ${inWords(guess)}`;
    if (answer) {
      const own = this.locked === null ? guess : String(this.locked);
      if (own !== null && (guess === null || !isSame(own, guess))) {
        // it was locked in without the network, and the class has an earlier one
        return `You said ${inWords(own)}, ${TOO_LATE}. It is ${inWords(answer.value)}.`;
      }
      if (guess === null) return `The answer is ${inWords(answer.value)}.`;
      const verdict = guess === answer.value ? "Right" : `It is ${inWords(answer.value)}`;
      const late = isLate ? `, ${TOO_LATE}` : "";
      return [`${said}${late}. ${verdict}.`, answer.remark].filter(Boolean).join(" ");
    }
    if (!isAsked) return `${said}. ${LOCKED_IN}`;
    if (this.locked !== null) return "Sending …";
    if (isOpen) return "The class has seen the answer. Guess all the same, then you see it.";
    if (vote > 1) return guess === null ? VOTES_AGAIN : `${said}. ${VOTES_AGAIN} ${THE_SAME}`;
    return "";
  }

  /** Both are HTML of the site itself; a guess is never in it. */
  private show({ value, reason, folds }: Answer) {
    if (this.isShown) return;
    this.isShown = true;
    this.shown.innerHTML = reason;
    // a reason that is the value alone has been said above
    if (this.shown.textContent.trim() === `${written(value)}.`) this.shown.replaceChildren();
    for (const [place, fold] of folds.entries()) {
      const its = `.nv-fold[data-of="${this.question}"][data-place="${place}"]`;
      const here = document.querySelector(its);
      if (here) here.innerHTML = fold;
    }
    this.openPanels();
  }

  /** Panels that wait for the answer of this question wait no longer. */
  openPanels() {
    const { asks } = this.place.dataset;
    if (asks) document.dispatchEvent(new CustomEvent("nv-answered", { detail: asks }));
  }
}

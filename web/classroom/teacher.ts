/** The teacher's own page: who has answered, which mistakes these are, and what happens next. */
import "./teacher.css";
import { made } from "../kit/made";
import { barsOf, countOf, placeOf } from "./bars";
import { listenTo, Refusal, type Counted, type ForTeacher } from "./messages";
import { complaintOn, numberIn, written } from "./numbers";
import { pressedTwice, isAsked } from "./sure";
import { showWhere } from "./where";

const AGAIN = 1500; // milliseconds
const PLAN = "The plan of 50 minutes";
const EXERCISE =
  "Then the exercise, in pairs: on paper, or on a laptop in lab/. A telephone has no field for it.";
const WAIT = "Answers wait for me";
const ALL_AT_ONCE = "Press again: who has guessed sees the answer at once, to every question";

const at = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind;
const list = at("list");
const main = at("question");
const says = at("says");
const held = at<HTMLInputElement>("held");

let state: ForTeacher;

/** Does one thing; what the class is then comes over the socket. */
async function does(what: object) {
  try {
    says.textContent = "";
    await fetchDone(what);
  } catch (error) {
    says.textContent = whyNot(error);
  }
}

function whyNot(error: unknown): string {
  if (!(error instanceof Refusal)) return "That did not reach the class. Is it still running?";
  const { status, words } = error;
  if (status === 403) return "This is the page of another class. Open the address of this one.";
  return `The class did not do that: ${words || status}.`;
}

async function fetchDone(what: object) {
  const answer = await fetch("/", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(what),
  });
  if (!answer.ok)
    throw new Refusal(answer.status, answer.status === 422 ? await answer.text() : "");
}

function button(words: string, what: () => object, isDisabled = false): HTMLButtonElement {
  const made_ = made("button", "", words);
  made_.type = "button";
  made_.disabled = isDisabled;
  made_.addEventListener("click", () => does(what()));
  return made_;
}

function draw() {
  const { here, came, questions, chosen, refused, isHeld, isOver } = state;
  at("who").textContent = isOver ? wordsOfEnd(state) : `${here} here, ${came} came`;
  held.disabled = false;
  held.checked = isHeld;
  at("held-words").textContent = isAsked("held") ? ALL_AT_ONCE : WAIT;
  const isNews = !isOver && refusedSeats(state) > seen;
  const full = isNews ? wordsOfFull(state) : "";
  if (at("full").textContent !== full) at("full").textContent = full; // is said once
  at("seen").hidden = !isNews;
  const flood = refused["too often"];
  at("trouble").textContent = flood
    ? `Refused, as too often: ${flood}. The others are not slower.`
    : "";
  drawList(questions, chosen);
  const one = questions.find(({ name }) => name === chosen);
  if (one) drawQuestion(one);
  else main.replaceChildren(made("p", "hint", "Choose a question: all pages show it."));
  if (isOver) switchOff();
}

/** That the class has ended, and for whom its server waits. */
function wordsOfEnd({ came, unaware, secondsLeft }: ForTeacher): string {
  const ended = `The class has ended; ${came} came.`;
  if (!unaware) return ended;
  const waiting = unaware > 1 ? `${unaware} telephones have` : "1 telephone has";
  const they = unaware > 1 ? "they have" : "it has";
  return `${ended} ${waiting} not heard it: ${they} ${secondsLeft} seconds.`;
}

/** Nothing can be done any more. */
function switchOff() {
  const controls = document.querySelectorAll<HTMLButtonElement | HTMLInputElement>(
    "button, input, select",
  );
  for (const one of controls) one.disabled = true;
}

/** How many refusals of a seat the teacher has seen. */
let seen = 0;

const refusedSeats = ({ refused }: ForTeacher): number =>
  (refused["full"] ?? 0) + (refused["full at one address"] ?? 0);

/** Where somebody is refused a seat: what to do about it. */
function wordsOfFull({ refused, most, perAddress }: ForTeacher): string {
  const meanwhile = "Until then, count their hands.";
  if (refused["full"]) {
    const restart = `Start the class again with --most ${2 * most}.`;
    const taken = `all ${most} seats of the class are taken`;
    return `Somebody cannot join: ${taken}. ${restart} ${meanwhile}`;
  }
  if (refused["full at one address"]) {
    const restart = `If they share it, start the class again with --per-address ${most}.`;
    const taken = `all ${perAddress} seats at one address are taken`;
    return `Somebody cannot join: ${taken}. ${restart} ${meanwhile}`;
  }
  return "";
}

/** A group of the list: the plan of the session, then each page with what is left of it. */
const PLAN_GROUP = "plan";
const groupOf = ({ planned, page }: Counted) => (planned ? PLAN_GROUP : page);

/** What is typed and what has the focus outlasts a drawing. */
function drawList(questions: Counted[], chosen: string | null) {
  const focused = document.activeElement?.id;
  const folded = new Set([...list.querySelectorAll("details:not([open])")].map((one) => one.id));
  const isFirst = !list.hasChildNodes();
  const first = questions.find(({ name }) => name === chosen) ?? questions[0];
  const parts: HTMLDetailsElement[] = [];
  for (const question of questions) {
    let part = parts[parts.length - 1];
    const group = groupOf(question);
    if (part?.id !== group) {
      part = made("details");
      part.id = group;
      parts.push(part);
      part.open = isFirst ? group === groupOf(first) : !folded.has(group);
      part.append(made("summary", "", question.planned ? PLAN : question.title));
    }
    const total = Math.max(...question.totals);
    const one = button("", () => ({ choose: question.name }));
    one.id = `choose-${question.name}`;
    one.className = question.name === chosen ? "chosen" : "";
    if (question.name === chosen) one.setAttribute("aria-current", "true");
    const mark = question.isOpen ? "✓ " : "";
    one.append(made("span", "", mark + question.question), made("b", "", total ? `${total}` : ""));
    part.append(one);
  }
  parts.find(({ id }) => id === PLAN_GROUP)?.append(made("p", "hint", EXERCISE));
  list.replaceChildren(...parts);
  if (focused?.startsWith("choose-")) document.getElementById(focused)?.focus();
}

let drawn = "";
/** The guesses as their rows stand. */
let order: string[] = [];

function drawQuestion(one: Counted) {
  const { name, isOpen, totals } = one;
  const asks = ["again", "open"].map((what) => isAsked(JSON.stringify({ [what]: name })));
  const text = JSON.stringify([one, state.hasBars, state.isOver, asks]);
  if (text === drawn) return; // an entry keeps what is typed
  drawn = text;
  const field = main.querySelector<HTMLInputElement>("#hand");
  const isSame = field?.dataset.question === one.name;
  const typed = isSame ? field.value : "";
  const focused = document.activeElement?.id;
  const bars = button(state.hasBars ? "Hide the guesses" : "Show the guesses", () => ({
    bars: !state.hasBars,
  }));
  bars.id = "bars";
  const steps = made("div", "steps");
  steps.append(
    bars,
    sureButton(
      "Vote again",
      "Press again to vote again",
      { again: name },
      isOpen || totals.length > 1,
    ),
    sureButton(
      isOpen ? "The answer is shown" : "Show the answer to all",
      "Press again to show it",
      { open: name },
      isOpen,
    ),
  );
  // A row stays under a pointer that counts hands.
  const isInUse = main.querySelector(".bars:is(:hover, :focus-within)") !== null;
  if (isSame && isInUse) one.bars.sort((a, b) => placeIn(order, a.guess) - placeIn(order, b.guess));
  order = one.bars.map(({ guess }) => guess);
  const more = (guess: string) => hands(one, guess);
  main.replaceChildren(
    made("p", "place", placeOf(one)),
    made("h1", "", one.question),
    made("p", "total", countOf(one)),
    made("p", "answer", `The answer: ${written(one.answer ?? "")}`),
    steps,
    barsOf(one, more),
    handEntry(one, typed),
  );
  const hadFocus = focused ? document.getElementById(focused) : null;
  hadFocus?.focus();
  // a button that can do nothing any more takes no focus
  if (hadFocus && document.activeElement !== hadFocus) main.focus();
}

const placeIn = (guesses: string[], guess: string): number =>
  guesses.includes(guess) ? guesses.indexOf(guess) : guesses.length;

/** A button for what cannot be taken back: it asks once more in its own place. */
function sureButton(
  words: string,
  ask: string,
  what: object,
  isDisabled: boolean,
): HTMLButtonElement {
  const name = JSON.stringify(what);
  const press = made("button", "", isAsked(name) && !isDisabled ? ask : words);
  press.type = "button";
  press.id = name;
  press.className = "sure";
  press.dataset.all = `${words}\n${ask}`; // so wide it is for both
  press.disabled = isDisabled;
  press.addEventListener("keydown", (event) => {
    if (event.repeat) event.preventDefault(); // a key that is held down is one press
  });
  press.addEventListener("click", () => {
    if (pressedTwice(name, draw)) does(what);
  });
  return press;
}

const valueOf = ({ choices }: Counted, guess: string) => (choices.length ? guess : Number(guess));

/** Hands that are up for a guess. */
function hands(one: Counted, guess: string): HTMLElement {
  const counted = one.bars.find((bar) => bar.guess === guess)?.hands;
  const place = made("span", "hands");
  for (const by of [1, -1]) {
    const what = { hands: one.name, guess: valueOf(one, guess), by };
    const isNone = by < 0 && !counted;
    const press = button(by > 0 ? "+1" : "−1", () => what, one.isOpen || isNone);
    press.id = `hand ${by} ${guess}`;
    press.setAttribute("aria-label", `${press.textContent} hand for ${written(guess)}`);
    place.append(press);
  }
  return place;
}

/** Hands for a guess that has no bar yet. */
function handEntry(one: Counted, typed: string): HTMLElement {
  const form = made("form", "hand-entry");
  const label = made("label", "", "A hand for ");
  const field = one.choices.length ? made("select") : made("input");
  field.id = "hand";
  field.dataset.question = one.name;
  if (field instanceof HTMLSelectElement) {
    for (const choice of one.choices) field.append(new Option(choice));
  } else {
    field.size = 9;
  }
  // What was chosen or typed before the page was drawn anew.
  if (typed) field.value = typed;
  label.append(field);
  const add = made("button", "", "Count it");
  add.id = "count";
  form.append(label, add);
  if (one.isOpen) {
    field.disabled = true;
    add.disabled = true;
    form.append("The answer is out: hands are counted before it.");
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const guess = one.choices.length ? field.value : numberIn(field.value);
    if (guess === null) {
      says.textContent = complaintOn(field.value);
      return;
    }
    if (field instanceof HTMLInputElement) field.value = "";
    does({ hands: one.name, guess, by: 1 });
  });
  return form;
}

function listen() {
  listenTo("/socket", {
    said: (text) => {
      state = JSON.parse(text);
      draw();
    },
    gone,
  });
}

function gone() {
  if (state?.isOver) switchOff();
  const ended = "The class has ended. Its counts are gone.";
  at("who").textContent = state?.isOver ? ended : "The class does not answer. Trying again …";
  if (!state?.isOver) setTimeout(listen, AGAIN);
}

held.addEventListener("change", () => {
  const isHeld = held.checked;
  held.checked = state.isHeld; // until the class says so
  if (isHeld || pressedTwice("held", draw)) does({ held: isHeld });
});
at("seen").addEventListener("click", () => {
  seen = refusedSeats(state);
  draw();
});
at("end").addEventListener("click", () => {
  const sure =
    "End the class? The counts are forgotten: take them as CSV before, if you want them.";
  if (confirm(sure)) does({ end: true });
});
showWhere(at("where")).then((note) => (at("note").textContent = note));
listen();

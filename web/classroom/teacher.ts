/** The teacher's own page: who has answered, which mistakes these are, and what happens next. */
import "./teacher.css";
import { barsOf, countOf, placeOf } from "./bars";
import { made, socketAt, type Counted, type ForTeacher } from "./messages";
import { numberIn, written } from "./numbers";
import { showWhere } from "./where";

const AGAIN = 1500; // milliseconds

const at = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind;
const list = at("list");
const main = at("question");
const says = at("says");
const held = at<HTMLInputElement>("held");

/** What to do where requests are refused. */
const TO_DO: Record<string, string> = {
  full: " (no seat is left: start again with --per-address 200)",
  "too often": " (nothing: the others are not slower)",
};

let state: ForTeacher;

/** Does one thing; what the class is then comes over the socket. */
async function does(what: object) {
  try {
    says.textContent = "";
    await fetchDone(what);
  } catch {
    says.textContent = "That did not reach the class. Is it still running?";
  }
}

async function fetchDone(what: object) {
  const answer = await fetch("/", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(what),
  });
  if (!answer.ok) throw new Error(String(answer.status));
}

function button(words: string, what: () => object, isDisabled = false): HTMLButtonElement {
  const made_ = made("button", "", words);
  made_.type = "button";
  made_.disabled = isDisabled;
  made_.addEventListener("click", () => does(what()));
  return made_;
}

function draw() {
  const { here, came, questions, chosen, refused, isHeld } = state;
  at("who").textContent = `${here} here, ${came} came`;
  held.checked = isHeld;
  const trouble = Object.entries(refused).map(([why, times]) => {
    return `${why}: ${times}${TO_DO[why] ?? ""}`;
  });
  at("trouble").textContent = trouble.length ? `Refused: ${trouble.join(", ")}` : "";
  drawList(questions, chosen);
  const one = questions.find(({ name }) => name === chosen);
  if (one) drawQuestion(one);
  else main.replaceChildren(made("p", "hint", "Choose a question: all pages show it."));
}

/** What is typed and what has the focus outlasts a drawing. */
function drawList(questions: Counted[], chosen: string | null) {
  const focused = document.activeElement?.id;
  const folded = new Set([...list.querySelectorAll("details:not([open])")].map((one) => one.id));
  const isFirst = !list.hasChildNodes();
  const parts: HTMLDetailsElement[] = [];
  for (const question of questions) {
    let part = parts[parts.length - 1];
    if (part?.id !== question.page) {
      part = made("details");
      part.id = question.page;
      // Pages beyond the course are folded at first.
      part.open = isFirst ? part.id.startsWith("notebooks/") : !folded.has(part.id);
      part.append(made("summary", "", question.title));
      parts.push(part);
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
  list.replaceChildren(...parts);
  if (focused?.startsWith("choose-")) document.getElementById(focused)?.focus();
}

let drawn = "";

function drawQuestion(one: Counted) {
  const text = JSON.stringify([one, state.hasBars, state.isOver]);
  if (text === drawn) return; // an entry keeps what is typed
  drawn = text;
  const field = main.querySelector<HTMLInputElement>("#hand");
  const typed = field?.dataset.question === one.name ? field.value : "";
  const { name, isOpen, totals } = one;
  const steps = made("div", "steps");
  steps.append(
    button(state.hasBars ? "Hide the guesses" : "Show the guesses", () => ({
      bars: !state.hasBars,
    })),
    button("Vote again", () => ({ again: name }), isOpen || totals.length > 1),
    button(
      isOpen ? "The answer is shown" : "Show the answer to all",
      () => ({ open: name }),
      isOpen,
    ),
  );
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
}

const valueOf = ({ choices }: Counted, guess: string) => (choices.length ? guess : Number(guess));

/** Hands that are up for a guess. */
function hands(one: Counted, guess: string): HTMLElement {
  const place = made("span", "hands");
  for (const by of [1, -1]) {
    const what = { hands: one.name, guess: valueOf(one, guess), by };
    const press = button(by > 0 ? "+1" : "−1", () => what);
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
    field.value = typed;
  }
  label.append(field);
  const add = made("button", "", "Count it");
  form.append(label, add);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const guess = one.choices.length ? field.value : numberIn(field.value);
    if (guess === null) {
      says.textContent = "Type the number for which hands are up.";
      return;
    }
    if (field instanceof HTMLInputElement) field.value = "";
    does({ hands: one.name, guess, by: 1 });
  });
  return form;
}

function listen() {
  const socket = socketAt("/socket");
  socket.onmessage = ({ data }) => {
    state = JSON.parse(data);
    draw();
  };
  socket.onclose = () => {
    if (state?.isOver) {
      const buttons = document.querySelectorAll<HTMLButtonElement | HTMLInputElement>(
        "button, input",
      );
      for (const one of buttons) one.disabled = true;
    }
    const ended = "The class has ended. Its counts are gone.";
    at("who").textContent = state?.isOver ? ended : "The class does not answer. Trying again …";
    if (!state?.isOver) setTimeout(listen, AGAIN);
  };
}

held.addEventListener("change", () => does({ held: held.checked }));
at("end").addEventListener("click", () => {
  const sure =
    "End the class? The counts are forgotten: take them as CSV before, if you want them.";
  if (confirm(sure)) does({ end: true });
});
showWhere(at("where")).then((note) => (at("note").textContent = note));
listen();

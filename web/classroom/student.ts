/** In each page of a class that asks: its questions become boxes, and listen to the teacher. */
import "./box.css";
import "./student.css";
import { made } from "../kit/made";
import { Box } from "./box";
import { ask, listenTo, Refusal, type State } from "./messages";
import { goTo } from "./jump";

const FIRST_WAIT = 500; // milliseconds
const LONGEST_WAIT = 8000;
const AGAIN = 2000; // for a guess that was not sent
const FOR_LONG = 180000;
/** Milliseconds: looks for the class are never so far apart, unless the page slept. */
const ASLEEP = 30000;

const page = location.pathname.slice(1).replace(/\.html$/, "") || "index";
const bar = made("div", "nv-class-bar");
bar.setAttribute("role", "status");

let state: State | undefined;
/** When the class was heard last; 0 while it is heard. */
let lostAt = 0;
let lookedAt = 0;

async function send(question: string, guess: number | string, vote: number) {
  hear(await ask<State>("/class/lock", { question, guess, vote }));
}

const boxes = [...document.querySelectorAll<HTMLElement>(".nv-class")].map(
  (place) => new Box(place, send),
);

function hear(next: State) {
  const isSame = next.class === state?.class;
  if (isSame && next.number < state!.number) return; // an answer that was late on its way
  if (!isSame) for (const box of boxes) box.startAgain();
  state = next;
  lostAt = 0;
  say("");
  for (const box of boxes) {
    const asked = next.questions[box.question];
    if (asked) box.hear(asked);
  }
}

/** What the bar says: trouble, or what the teacher asks, with the way there. */
function say(trouble: string) {
  bar.textContent = trouble;
  const now = state?.now;
  if (trouble || !now?.isAsked) return;
  const link = made("a", "", now.question);
  const isHere = now.page === page;
  link.href = `${isHere ? "" : `/${now.page}.html`}#ask-${now.name}`;
  if (isHere) link.addEventListener("click", () => goTo(`ask-${now.name}`));
  bar.append("Your teacher asks: ", link);
}

/** That the class is not heard; after some minutes that it may be over. */
function sayLost() {
  const now = Date.now();
  if (!lostAt || now - lookedAt > ASLEEP) lostAt = now;
  lookedAt = now;
  if (now - lostAt < FOR_LONG) {
    say("Looking for the class …");
    return;
  }
  say("The class may be over. This page stays, and its panels are open.");
  for (const box of boxes) box.openPanels();
}

async function look() {
  hear(await ask<State>(`/class/state?page=${encodeURIComponent(page)}`));
  for (const box of boxes) await box.sendAgain();
}

/** As long as something is locked in that the server has not. */
function keepSending() {
  setInterval(() => {
    if (!state?.isOver) for (const box of boxes) box.sendAgain();
  }, AGAIN);
}

/** Hears the teacher; after a lost network it looks for the class again. */
async function listen() {
  let wait = FIRST_WAIT;
  while (!state?.isOver) {
    try {
      await look();
      if (state?.isOver) break;
      await heard(() => (wait = FIRST_WAIT));
      if (!state?.isOver) sayLost();
    } catch (error) {
      const isFull = error instanceof Refusal && error.status === 429;
      if (isFull) say("The class is full. Trying again …");
      else sayLost();
    }
    await new Promise((go) => setTimeout(go, wait * (0.5 + Math.random()))); // not all at once
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
  say("The class is over. This page stays; other pages are gone.");
}

/** Looks whenever the teacher has done something, until the class is not heard. */
function heard(opened: () => void): Promise<void> {
  return new Promise((gone) => {
    const end = listenTo("/class/socket", {
      opened,
      said: () =>
        look()
          .catch(() => end())
          .finally(() => state?.isOver && end()),
      gone,
    });
  });
}

document.body.append(bar);
// A telephone that wakes up has lost its socket without a word.
document.addEventListener("visibilitychange", () => {
  if (document.hidden || state?.isOver) return;
  look().catch(() => {});
});
keepSending();
listen();
const [{ type }] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
// A page that is loaded again goes where it was.
if (type === "navigate" && location.hash) goTo(location.hash.slice(1));

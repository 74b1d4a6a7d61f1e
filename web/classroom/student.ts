/** In each page of a class that asks: its questions become boxes, and listen to the teacher. */
import "./student.css";
import { Box } from "./box";
import { ask, made, Refusal, socketAt, type State } from "./messages";

const FIRST_WAIT = 500; // milliseconds
const LONGEST_WAIT = 8000;
const AGAIN = 2000; // for a guess that was not sent
const SILENCE = 45000; // the class says something every 20 seconds

const page = location.pathname.slice(1).replace(/\.html$/, "") || "index";
const bar = made("div", "nv-class-bar");
bar.setAttribute("role", "status");

let state: State | undefined;

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
  link.href = `${now.page === page ? "" : `/${now.page}.html`}#${now.name}`;
  bar.append("Your teacher asks: ", link);
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
      say(state?.isOver ? "" : "Looking for the class …");
    } catch (error) {
      const isFull = error instanceof Refusal && error.status === 429;
      say(isFull ? "The class is full. Trying again …" : "Looking for the class …");
    }
    await new Promise((go) => setTimeout(go, wait * (0.5 + Math.random()))); // not all at once
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
  say("The class is over. This page stays; other pages are gone.");
}

/** Looks whenever the teacher has done something, until the socket closes. */
function heard(opened: () => void): Promise<void> {
  return new Promise((gone) => {
    const socket = socketAt("/class/socket");
    let lastHeard = Date.now();
    // A router that forgets a connection closes nothing.
    const watch = setInterval(() => {
      if (Date.now() - lastHeard > SILENCE) socket.close();
    }, SILENCE / 3);
    socket.onopen = opened;
    socket.onmessage = ({ data }) => {
      lastHeard = Date.now();
      if (data === "beat") return;
      look()
        .catch(() => socket.close())
        .finally(() => state?.isOver && socket.close());
    };
    socket.onclose = () => {
      clearInterval(watch);
      gone();
    };
  });
}

document.body.append(bar);
// A telephone that wakes up has lost its socket without a word.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !state?.isOver) look().catch(() => {});
});
keepSending();
listen();

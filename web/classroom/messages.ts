/** What the pages of a class and its server say to one another; see room.py. */

/** An answer that the teacher has shown. */
export interface Answer {
  value: string;
  /** On the guess of this page. */
  remark: string;
  /** HTML of the page itself: the answer with its reason, and the folds that follow. */
  reason: string;
  folds: string[];
}

export interface Asked {
  /** 1, or 2 when the class votes again. */
  vote: number;
  guess: string | null;
  /** Whether a guess is still to come. */
  isAsked: boolean;
  choices: string[];
  answer: Answer | null;
  /** Others have seen the answer; this page has not guessed. */
  isOpen?: boolean;
}

export interface State {
  /** The name of the class: another one after the server has been started again. */
  class: string;
  /** Of two states the one with the larger number is newer. */
  number: number;
  isOver: boolean;
  now: Now | null;
  questions: Record<string, Asked>;
}

/** What the teacher asks now, on whichever page it stands. */
export interface Now {
  name: string;
  page: string;
  question: string;
  /** Whether a guess of this seat is still to come. */
  isAsked: boolean;
}

/** How often a guess came, in each vote. */
export interface Bar {
  guess: string;
  counts: number[];
  isRight?: boolean;
  remark?: string;
}

export interface Counted {
  name: string;
  page: string;
  title: string;
  section: string;
  question: string;
  choices: string[];
  isOpen: boolean;
  totals: number[];
  /** Who has a page open or has answered. */
  expected: number;
  bars: Bar[];
  /** Guesses that have no bar. */
  others: number;
  late: number;
  answer?: string;
}

interface Who {
  here: number;
  came: number;
  isOver: boolean;
}

export interface ForTeacher extends Who {
  isHeld: boolean;
  hasBars: boolean;
  /** Why requests were refused, and how often. */
  refused: Record<string, number>;
  chosen: string | null;
  questions: Counted[];
}

export interface ForProjector extends Who {
  question: Counted | null;
}

/** Where the class is, for telephones. */
export interface Where {
  where: { url: string; code: string }[];
  note: string;
}

const PATIENCE = 8000; // milliseconds

/** Asks the server, and posts if there is something to post. */
export async function ask<Found>(path: string, body?: object): Promise<Found> {
  const post = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const answer = await fetch(path, {
    ...(body ? post : {}),
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (!answer.ok) throw new Refusal(answer.status);
  return answer.json();
}

/** The server has answered, with a number that says why it does not do it. */
export class Refusal extends Error {
  constructor(readonly status: number) {
    super(`the class answered ${status}`);
  }
}

export const socketAt = (path: string): WebSocket =>
  new WebSocket(`${location.origin.replace(/^http/, "ws")}${path}`);

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

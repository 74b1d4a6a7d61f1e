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
  /** The guess came when the answer was open: it is not counted. */
  isLate?: boolean;
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
  /** How many of the latest vote are hands. */
  hands?: number;
}

export interface Counted {
  name: string;
  page: string;
  title: string;
  section: string;
  question: string;
  choices: string[];
  /** 1, 2, … in the order of the plan; null outside it. */
  planned: number | null;
  isOpen: boolean;
  totals: number[];
  /** Who has a page open or has answered. */
  expected: number;
  bars: Bar[];
  /** Guesses that have no bar, in each vote. */
  others: number[];
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
  /** Seats: of the class, and at one address. */
  most: number;
  perAddress: number;
  /** After the end: seats that have not heard it, and how long the class waits for them. */
  unaware: number;
  secondsLeft: number;
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
  constructor(
    readonly status: number,
    /** What it says to the teacher. */
    readonly words = "",
  ) {
    super(`the class answered ${status}`);
  }
}

const BEAT = "beat"; // the server says it every 5 seconds
const SILENCE = 15000; // milliseconds
const EACH = 1000;

/** What a page does with the socket of a class. */
interface Ears {
  opened?(): void;
  said(text: string): void;
  /** Once: the socket has closed, or nothing has come for too long. */
  gone(): void;
}

/** Hears what the class says at an address; the function that comes back ends it. */
export function listenTo(path: string, { opened, said, gone }: Ears): () => void {
  const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}${path}`);
  let lastHeard = Date.now();
  let isOn = true;
  const end = () => {
    if (!isOn) return;
    isOn = false;
    clearInterval(watch);
    socket.close();
    gone(); // a class that stands still does not even close a socket
  };
  const watch = setInterval(() => {
    if (Date.now() - lastHeard > SILENCE) end();
  }, EACH);
  socket.onopen = () => opened?.();
  socket.onmessage = ({ data }: MessageEvent<string>) => {
    lastHeard = Date.now();
    if (isOn && data !== BEAT) said(data);
  };
  socket.onclose = end;
  return end;
}

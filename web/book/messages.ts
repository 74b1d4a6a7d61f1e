/** What a page and the worker that is its Python say to one another. */

/** Where the worker finds Python and what it needs; `tools/book/live/build.py` writes it. */
export interface Settings {
  /** The address of a Pyodide distribution, with a slash at its end. */
  pyodide: string;
  /** The address of page.py. */
  page: string;
  wheels: string[];
  /** Of the wheels together, in bytes. */
  size: number;
  /** Module → package of Pyodide, for what comes when Python first asks for it. */
  later: Record<string, string>;
}

/** A message for one end of a channel between a widget and its Python. */
interface Comm {
  kind: "comm_open" | "comm_msg" | "comm_close";
  id: string;
  /** JSON. */
  data: string;
}

/** `ticket` names what is asked for: the answer carries it. */
export type ToPython =
  | ({ kind: "start" } & Settings)
  | { kind: "open"; ticket: string; how: string }
  | { kind: "go"; model: string; state: string }
  | { kind: "close"; model: string }
  | (Comm & { ticket: string; buffers: (ArrayBuffer | ArrayBufferView)[] });

export type FromPython =
  | ({ kind: "progress" } & Progress)
  | ({ kind: "done"; ticket: string } & Opened)
  | { kind: "failed"; ticket: string; words: string }
  /** `answerTo` is the ticket of the message that Python was answering; "" for none. */
  | (Comm & { buffers: Uint8Array<ArrayBuffer>[]; answerTo: string });

/** How far Python has come; no words when it is there. */
export interface Progress {
  words: string;
  share: number;
}

/** The widget of a panel that was opened. */
export interface Opened {
  model?: string;
}

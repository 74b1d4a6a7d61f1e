/**
 * The Python of a page's live panels: comm messages in, comm messages out; live.ts and page.py are
 * its other ends.
 */
import type { FromPython, Settings, ToPython } from "./messages";

/** What is used of Pyodide. */
interface Pyodide {
  loadPackage(names: string | string[], options: { messageCallback(): void }): Promise<unknown>;
  pyimport(name: "page"): Page;
  FS: { writeFile(path: string, text: string): void };
}

/** What page.py has. */
interface Page {
  begin(post: Post): void;
  open_panel(ticket: string, how: string): void;
  go_to(model: string, state: string): void;
  close_panel(model: string): void;
  hear(kind: string, id: string, data: string, buffers: Uint8Array[]): void;
  again(): void;
}

/** `rest` is JSON: what else stands in the message. */
type Post = (
  kind: "comm_open" | "comm_msg" | "comm_close" | "done" | "missing",
  ticket: string,
  id: string,
  data: string,
  buffers: Uint8Array<ArrayBuffer>[],
  rest: string,
) => void;

const QUIET = { messageCallback() {} };

let pyodide: Pyodide;
let python: Page;
/** Module → package, for those that have not come yet. */
let later: Record<string, string>;
/** The ticket of the message that Python answers now; "" for none. */
let answerTo = "";

const post = (message: FromPython) => postMessage(message);
const say = (words: string, share: number) => post({ kind: "progress", words, share });

async function start(settings: Settings) {
  say("Python is being fetched, some 6 MB", 0.05);
  const { loadPyodide } = await import(`${settings.pyodide}pyodide.mjs`);
  pyodide = (await loadPyodide({ indexURL: settings.pyodide })) as Pyodide;
  later = settings.later;
  const size = (settings.size / 1e6).toFixed(1);
  say(`numpy, some 4 MB, and neuroviz, ${size} MB`, 0.4);
  const [code] = await Promise.all([
    fetch(settings.page).then((answer) => answer.text()),
    pyodide.loadPackage(["numpy", ...settings.wheels], QUIET),
  ]);
  say("Python starts", 0.8);
  pyodide.FS.writeFile("/home/pyodide/page.py", code);
  python = pyodide.pyimport("page");
  python.begin((kind, ticket, id, data, buffers, rest) => {
    if (kind === "missing") {
      if (later[id]) bring(id).catch(() => {}); // the panel says what is missing
    } else if (kind === "done") {
      post({ kind, ticket, ...JSON.parse(rest) });
    } else {
      post({ kind, id, data, buffers, answerTo });
    }
  });
  say("", 1);
}

// Few panels need python-flint: it comes when Python first asks for it.
const coming: Record<string, Promise<void>> = {};

function bring(module: string): Promise<void> {
  return (coming[module] ??= fetched(module).finally(() => delete coming[module]));
}

async function fetched(module: string) {
  say(`${module} is being fetched`, 0.9);
  try {
    await pyodide.loadPackage(later[module], QUIET);
    delete later[module];
    python.again();
  } finally {
    say("", 1);
  }
}

async function open(ticket: string, how: string) {
  try {
    python.open_panel(ticket, how);
  } catch (error) {
    const missing = /No module named '(\w+)/.exec(wordsOf(error))?.[1];
    if (!missing || !later[missing]) throw error;
    await bring(missing);
    await open(ticket, how);
  }
}

/** What Emscripten throws has words, and is no Error. */
const wordsOf = (error: unknown) => String((error as Partial<Error>).message ?? error);

let started: Promise<void>;

async function hear(message: ToPython) {
  if (message.kind === "start") return await (started = start(message));
  await started;
  if (message.kind === "open") return await open(message.ticket, message.how);
  if (message.kind === "go") return python.go_to(message.model, message.state);
  if (message.kind === "close") return python.close_panel(message.model);
  const { kind, ticket, id, data, buffers } = message;
  answerTo = ticket;
  python.hear(kind, id, data, buffers.map(bytesOf));
  answerTo = "";
  post({ kind: "done", ticket });
}

function bytesOf(one: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (!ArrayBuffer.isView(one)) return new Uint8Array(one);
  return new Uint8Array(one.buffer, one.byteOffset, one.byteLength);
}

onmessage = async ({ data: message }: MessageEvent<ToPython>) => {
  try {
    await hear(message);
  } catch (error) {
    answerTo = "";
    const ticket = "ticket" in message ? message.ticket : "";
    const words = wordsOf(error).trim().split("\n").at(-1)!;
    post({ kind: "failed", ticket, words });
  }
};

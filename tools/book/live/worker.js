// The Python of a page's live panels: comm messages in, comm messages out; see live.js and page.py.

let python, py, named, answers = ""; // the ticket of the message that Python is answering

async function start({ pyodide, page, wheels, size, later }) {
  const say = (words, share) => postMessage({ kind: "progress", words, share });
  say("Python is being fetched, some 6 MB", 0.05);
  const { loadPyodide } = await import(`${pyodide}pyodide.mjs`);
  py = await loadPyodide({ indexURL: pyodide });
  named = later;
  say(`numpy, some 4 MB, and neuroviz, ${(size / 1e6).toFixed(1)} MB`, 0.4);
  const [code] = await Promise.all([
    fetch(page).then((answer) => answer.text()),
    py.loadPackage(["numpy", ...wheels], { messageCallback() {} }),
  ]);
  say("Python starts", 0.8);
  py.FS.writeFile("/home/pyodide/page.py", code);
  python = py.pyimport("page");
  python.begin((kind, ticket, id, data, buffers, rest) => {
    if (kind !== "missing") postMessage({ kind, ticket, id, data, buffers, answers, ...JSON.parse(rest) });
    else if (named[id]) bring(id).catch(() => {}); // the panel says what is missing
  });
  say("", 1);
}

// Few panels need python-flint: it comes when Python first asks for it.
const coming = {};
const bring = (module) => (coming[module] ??= fetched(module).finally(() => delete coming[module]));

async function fetched(module) {
  postMessage({ kind: "progress", words: `${module} is being fetched`, share: 0.9 });
  try {
    await py.loadPackage(named[module], { messageCallback() {} });
    delete named[module];
    python.again();
  } finally {
    postMessage({ kind: "progress", words: "", share: 1 });
  }
}

async function open(ticket, how) {
  try {
    python.open_panel(ticket, how);
  } catch (error) {
    const missing = /No module named '(\w+)/.exec(error.message)?.[1];
    if (!named[missing]) throw error;
    await bring(missing);
    await open(ticket, how);
  }
}

let started;
onmessage = async ({ data: { kind, ticket = "", ...rest } }) => {
  try {
    if (kind === "start") return await (started = start(rest));
    await started;
    if (kind === "open") return await open(ticket, rest.how);
    if (kind === "close") return python.close_panel(rest.model);
    const { id, data, buffers = [] } = rest;
    answers = ticket;
    python.hear(kind, id, data, buffers.map((one) => new Uint8Array(one.buffer ?? one)));
    answers = "";
    postMessage({ kind: "done", ticket });
  } catch (error) {
    answers = "";
    postMessage({ kind: "failed", ticket, words: String(error.message ?? error).trim().split("\n").at(-1) });
  }
};

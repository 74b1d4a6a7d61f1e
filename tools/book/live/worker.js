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
  python.begin((kind, ticket, id, data, buffers, rest) =>
    postMessage({ kind, ticket, id, data, buffers, answers, ...JSON.parse(rest) }));
  say("", 1);
}

// Few panels need python-flint: it comes with the first of them.
async function open(ticket, how) {
  try {
    python.open_panel(ticket, how);
  } catch (error) {
    const missing = /No module named '(\w+)/.exec(error.message)?.[1];
    if (!named[missing]) throw error;
    postMessage({ kind: "progress", words: `${missing} is being fetched`, share: 0.9 });
    await py.loadPackage(named[missing], { messageCallback() {} });
    delete named[missing];
    await open(ticket, how);
    postMessage({ kind: "progress", words: "", share: 1 });
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

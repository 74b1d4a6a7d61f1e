// Widgets without a kernel, for the tests of the status line: `python` does what Python would do.

const ears = () => {
  const heard = {};
  return {
    on: (names, listen) => names.split(" ").forEach((name) => (heard[name] ??= []).push(listen)),
    off: (names, listen) => names.split(" ").forEach((name) => { heard[name] = (heard[name] ?? []).filter((one) => one !== listen); }),
    tell: (name, ...what) => (heard[name] ?? []).forEach((listen) => listen(...what)),
  };
};

function modelOf(state, views = {}) {
  const { on, off, tell } = ears();
  return {
    on, off, tell, views,
    model_id: state.id,
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      tell(`change:${name}`);
    },
    sent: [],
    send(message) { this.sent.push(message); },
  };
}

const signal = () => {
  const listeners = new Set();
  return { connect: (one) => listeners.add(one), disconnect: (one) => listeners.delete(one), emit: (...what) => listeners.forEach((one) => one(null, ...what)) };
};

window.kernel = {
  statusChanged: signal(), connectionStatusChanged: signal(), disposed: signal(),
  comms: { number: {}, kind: {}, word: {} },
  requestCommInfo: async () => (window.kernel.isBusy ? new Promise(() => {}) : { content: { status: "ok", comms: window.kernel.comms } }),
};

window.begin = async (source, text = "") => {
  const view = (el) => ({ only: Promise.resolve({ el }) });
  const [slider, box] = ["slider", "box"].map((id) => document.getElementById(id));
  slider.querySelector(".noUi-target").noUiSlider = { get: () => window.heldAt };
  window.controls = {
    number: modelOf({ id: "number", value: 2, continuous_update: false }, view(slider)),
    kind: modelOf({ id: "kind", index: 0, _options_labels: ["plain", "fancy"] }),
    word: modelOf({ id: "word", value: "", continuous_update: false }, view(box)),
  };
  const said = { text, kind: "done", of: { number: 2, kind: "plain", word: "" } };
  window.statusLine = modelOf({ said, controls: { number: "IPY_MODEL_number", kind: "IPY_MODEL_kind", word: "IPY_MODEL_word" } });
  window.statusLine.widget_manager = { kernel, get_model: async (name) => controls[name] };
  const { default: widget } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const own = widget();
  own.initialize({ model: window.statusLine });
  own.render({ model: window.statusLine, el: document.getElementById("line") });
  await new Promise((resolve) => setTimeout(resolve, 120));
};

// An answer of Python: each piece of it, or some of them.
window.python = (of, text, kind = "done", pieces = ["figure", "badge", "description"]) => {
  for (const piece of pieces) document.querySelector(`.of-${piece}`).dataset.setting = JSON.stringify(of);
  window.statusLine.set("said", { text, kind, of });
};

// What is dimmed, by what a reader sees.
window.dimmed = () => ["figure", "badge", "description"].filter((piece) => {
  let shown = 1;
  for (let one = document.querySelector(piece === "badge" ? ".nv-badge" : `.of-${piece}`); one; one = one.parentElement) shown *= getComputedStyle(one).opacity;
  return shown < 0.5;
});
window.line = () => document.querySelector(".nv-status");

// Widgets without a kernel, for the tests of the status line: `python` does what Python would do.

function ears() {
  const heard = {};
  return {
    on(names, listen) {
      for (const name of names.split(" ")) (heard[name] ??= []).push(listen);
    },
    off(names, listen) {
      for (const name of names.split(" ")) {
        heard[name] = (heard[name] ?? []).filter((one) => one !== listen);
      }
    },
    tell(name, ...what) {
      for (const listen of heard[name] ?? []) listen(...what);
    },
  };
}

function modelOf(state, views = {}) {
  const { on, off, tell } = ears();
  return {
    on,
    off,
    tell,
    views,
    model_id: state.id,
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      tell(`change:${name}`);
    },
    sent: [],
    send(message) {
      this.sent.push(message);
    },
  };
}

function signal() {
  const listeners = new Set();
  return {
    connect: (listen) => listeners.add(listen),
    disconnect: (listen) => listeners.delete(listen),
    emit(...what) {
      for (const listen of listeners) listen(null, ...what);
    },
  };
}

const never = new Promise(() => {});

window.kernel = {
  statusChanged: signal(),
  connectionStatusChanged: signal(),
  disposed: signal(),
  comms: { number: {}, kind: {}, word: {} },
  async requestCommInfo() {
    if (window.kernel.isBusy) await never;
    return { content: { status: "ok", comms: window.kernel.comms } };
  },
};

window.begin = async (source, text = "") => {
  const view = (el) => ({ only: Promise.resolve({ el }) });
  const slider = document.getElementById("slider");
  const box = document.getElementById("box");
  slider.querySelector(".noUi-target").noUiSlider = { get: () => window.heldAt };
  window.controls = {
    number: modelOf({ id: "number", value: 2, continuous_update: false }, view(slider)),
    kind: modelOf({ id: "kind", index: 0, _options_labels: ["plain", "fancy"] }),
    word: modelOf({ id: "word", value: "", continuous_update: false }, view(box)),
  };
  const said = { text, kind: "done", of: { number: 2, kind: "plain", word: "" } };
  window.statusLine = modelOf({
    said,
    controls: { number: "IPY_MODEL_number", kind: "IPY_MODEL_kind", word: "IPY_MODEL_word" },
  });
  window.statusLine.widget_manager = { kernel, get_model: async (name) => controls[name] };
  const script = new Blob([source], { type: "text/javascript" });
  const { default: widget } = await import(URL.createObjectURL(script));
  const own = widget();
  own.initialize({ model: window.statusLine });
  own.render({ model: window.statusLine, el: document.getElementById("line") });
  await new Promise((resolve) => setTimeout(resolve, 120));
};

// An answer of Python: each piece of it, or some of them.
window.python = (of, text, kind = "done", pieces = ["figure", "badge", "description"]) => {
  for (const piece of pieces) {
    document.querySelector(`.of-${piece}`).dataset.setting = JSON.stringify(of);
  }
  window.statusLine.set("said", { text, kind, of });
};

const PIECES = { figure: ".of-figure", badge: ".nv-badge", description: ".of-description" };

function opacityOf(element) {
  if (!element) return 1;
  return getComputedStyle(element).opacity * opacityOf(element.parentElement);
}

// What is dimmed, by what a reader sees.
window.dimmed = () => {
  const pieces = Object.keys(PIECES);
  return pieces.filter((piece) => opacityOf(document.querySelector(PIECES[piece])) < 0.5);
};

window.line = () => document.querySelector(".nv-status");

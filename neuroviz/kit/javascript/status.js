// The status line of a panel or a question, and the one rule by which a page knows what is out of date: every answer of
// Python carries the values of the controls that it is of (data-setting), and the page compares them with its own controls,
// again and again. No event has to arrive: a kernel that is busy, that is gone, or that was restarted elsewhere look alike.

const LATE = 150; // milliseconds that an answer may be behind the controls
const LOOK_EVERY = 50;
const ASK_AFTER = 3000; // then the kernel is asked whether it knows this panel at all

// A value as text that is the same for the same value, whoever has rounded it.
const plain = (value) => (typeof value === "number" ? Number(value.toPrecision(10)) : value);
const keyOf = (values) => JSON.stringify(Object.keys(values).sort().map((name) => [name, plain(values[name])]));

function valueOf(control) {
  const labels = control.get("_options_labels");
  return labels ? labels[control.get("index")] ?? null : control.get("value");
}

async function controlsOf(model) {
  const found = {};
  for (const [name, reference] of Object.entries(model.get("controls"))) {
    found[name] = await model.widget_manager.get_model(reference.slice("IPY_MODEL_".length));
  }
  return found;
}

// What the reader sees in a control that tells Python later: a slider that is still held, a text that is not entered.
// Null where it is what the control's value says.
function unsaid(control, element) {
  if (control.get("continuous_update") !== false || !element) return null;
  const slider = element.querySelector(".noUi-target");
  if (slider?.querySelector(".noUi-active")) {
    const value = Number(slider.noUiSlider.get(true));
    return plain(value) === plain(control.get("value")) ? null : { value, todo: "let go of the slider: Python answers then" };
  }
  const box = element.querySelector("input[type=text]");
  if (box && box.value !== control.get("value")) return { value: box.value, todo: "press Enter: Python answers then" };
  return null;
}

// What the controls show, and when the page has left which values: an answer to values that it left a moment ago is as
// good as new, so that a picture which follows a drag is not dimmed all the time.
function memoryOf(controls, panel) {
  const elements = {};
  const elementOf = (name) => {
    if (elements[name]?.isConnected) return elements[name];
    for (const view of Object.values(controls[name].views ?? {})) { // a row may be unfolded at any time
      view.then(({ el }) => { if (panel.contains(el)) elements[name] = el; });
    }
    return null;
  };
  const read = () => {
    const values = {};
    let todo = "";
    for (const [name, control] of Object.entries(controls)) {
      const held = unsaid(control, elementOf(name));
      values[name] = held ? held.value : valueOf(control);
      todo ||= held?.todo ?? "";
    }
    return { key: keyOf(values), todo };
  };
  const left = new Map();
  let now = read();
  return {
    look() {
      const next = read();
      if (next.key !== now.key) left.set(now.key, performance.now());
      now = next;
      for (const [key, time] of left) if (performance.now() - time > 10 * LATE) left.delete(key);
    },
    get todo() { return now.todo; },
    // Whether what is of these values is shown too late.
    isOld(of) {
      const key = keyOf(of);
      return key !== now.key && performance.now() - (left.get(key) ?? -Infinity) > LATE;
    },
  };
}

// A kernel that has ended answers nothing, however long one waits; one that is busy is still there.
const ENDS = ["restarting", "autorestarting", "terminating", "dead"];
function watch(kernel, say) {
  if (!kernel?.statusChanged) return () => {}; // a page without a server
  let isOver = false;
  const end = () => {
    isOver = true;
    say("No Python: this kernel has ended. Run the cell again.");
  };
  const heard = (_kernel, status) => { if (ENDS.includes(status)) end(); };
  const joined = (_kernel, status) => {
    if (!isOver) say(status === "connected" ? "" : "No Python: this page has lost its kernel.");
  };
  const ears = [[kernel.statusChanged, heard], [kernel.connectionStatusChanged, joined], [kernel.disposed, end]];
  for (const [signal, listen] of ears) signal.connect(listen);
  return () => { for (const [signal, listen] of ears) signal.disconnect(listen); };
}

// A kernel that was restarted from another window does not know this panel any more. A busy one answers later.
async function isForgotten(kernel, controls) {
  if (!kernel?.requestCommInfo) return false;
  const { content } = await kernel.requestCommInfo({ target_name: "jupyter.widget" });
  const known = Object.values(controls).some((control) => control.model_id in content.comms);
  return content.status === "ok" && !known;
}

const ROLES = { error: "alert", gone: "alert", busy: "timer" }; // a timer keeps still
const SIGNS = { error: "▨ ", gone: "▨ " };

export default () => {
  const views = new Set();
  let gone = "";
  return {
    initialize({ model }) {
      const say = (words) => {
        gone = words;
        for (const look of views) look();
      };
      return watch(model.widget_manager?.kernel, say);
    },

    render({ model, el }) {
      el.classList.add("nv-line");
      const line = el.appendChild(document.createElement("div"));
      let timer = 0, stopped = false, undo = [], shown = "";
      let presses = 0, heard = 0, pressed = 0; // of buttons; when Python was asked last

      const show = (kind, text, isWaiting) => {
        const next = `${kind} ${isWaiting} ${text}`;
        if (next === shown) return;
        shown = next;
        line.className = `nv-status nv-${kind}${isWaiting ? " nv-waiting" : ""}`;
        line.setAttribute("role", ROLES[kind] ?? "status");
        line.title = text;
        line.textContent = (SIGNS[kind] ?? "") + text;
      };

      const begin = async () => {
        if (stopped) return;
        const panel = el.closest(".nv");
        if (!panel) return void requestAnimationFrame(begin);
        const controls = await controlsOf(model);
        if (stopped) return;
        const memory = memoryOf(controls, panel);
        let waits = null; // for Python, while it keeps still

        const look = () => {
          memory.look();
          for (const piece of panel.querySelectorAll("[data-setting]")) {
            const frame = piece.closest(".widget-html, .nv-figure") ?? piece;
            frame.classList.toggle("nv-old", memory.isOld(JSON.parse(piece.dataset.setting)));
          }
          const { text, kind, of } = model.get("said");
          const isUnheard = presses > heard && performance.now() - pressed > LATE;
          const isWaiting = isUnheard || memory.isOld(of);
          if (gone) show("gone", gone, isWaiting);
          else if (memory.todo) show("stale", text && memory.todo, false); // a question keeps still meanwhile
          else if (isWaiting) show("busy", "waiting for Python", true);
          else show(kind, text, false);
          if (!isWaiting || memory.todo || gone) waits = null;
          else waits ??= { since: performance.now(), hasAsked: false };
          if (waits && !waits.hasAsked && performance.now() - waits.since > ASK_AFTER) {
            waits.hasAsked = true;
            isForgotten(model.widget_manager?.kernel, controls).then((yes) => {
              if (yes) gone = "No Python: this kernel was restarted. Run the cell again.";
            }, () => {}); // no answer either
          }
        };

        const onPress = ({ target }) => {
          if (!target.closest(".jupyter-button") || target.closest(".nv-copy")) return;
          presses += 1;
          pressed = performance.now();
          const press = presses;
          setTimeout(() => model.send({ heard: press })); // after the button itself has spoken
        };
        const onHeard = (message) => {
          if (message.heard) heard = Math.max(heard, message.heard);
        };
        panel.addEventListener("click", onPress);
        model.on("msg:custom", onHeard);
        model.on("change:said", look);
        for (const control of Object.values(controls)) control.on("change:value change:index", memory.look);
        timer = setInterval(look, LOOK_EVERY);
        views.add(look);
        undo = [
          () => panel.removeEventListener("click", onPress),
          () => model.off("msg:custom", onHeard),
          () => model.off("change:said", look),
          () => { for (const control of Object.values(controls)) control.off("change:value change:index", memory.look); },
          () => clearInterval(timer),
          () => views.delete(look),
        ];
        look();
      };
      const { text, kind } = model.get("said");
      show(kind, text, false);
      begin();
      return () => {
        stopped = true;
        for (const one of undo) one();
      };
    },
  };
};

// A panel's figure: what paints it once a page, the figure as plain data, redrawn at most once a frame.

const pages = (globalThis.neurovizPainters ??= {}); // "plotly" and "scenes": what they have come to in this page
function pageOf(painter) {
  const page = (pages[painter] ??= { asked: 0 });
  page.ready ??= new Promise((resolve, reject) => Object.assign(page, { resolve, reject }));
  return page;
}

async function take(page, bytes) {
  if (page.taken) return;
  page.taken = true;
  try {
    const script = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const parts = [await new Response(script).arrayBuffer()];
    const url = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
    page.resolve((await import(url)).default ?? globalThis.neurovizScenes);
    URL.revokeObjectURL(url);
  } catch (error) {
    page.reject(error);
  }
}

// The first chart of a kernel brings its painter. A page that opened later asks, one chart at a time: the one
// that asked may be closed before the answer.
function askUntilThere(page, model) {
  const ask = () => {
    if (page.taken || Date.now() - page.asked < 5000) return;
    page.asked = Date.now();
    model.send({ want: "painter" });
  };
  const timer = setInterval(() => (page.taken ? clearInterval(timer) : ask()), 500);
  return () => clearInterval(timer);
}

function changed(target, [key, ...rest], value) {
  const copy = Array.isArray(target) ? [...target] : { ...target };
  if (rest.length) copy[key] = changed(copy[key], rest, value);
  else if (value === undefined) delete copy[key];
  else copy[key] = value;
  return copy;
}

// ipywidgets leaves the handles and number boxes of sliders nameless; who hears the page needs their names.
function nameHandles(row) {
  const put = (one, name, value) => one.getAttribute(name) === value || one.setAttribute(name, value); // a step writes nothing
  for (const slider of row.querySelectorAll(".widget-slider")) {
    const name = slider.querySelector(".widget-label")?.textContent.trim();
    if (!name) continue;
    const still = slider.querySelector(".noUi-target")?.hasAttribute("disabled");
    for (const handle of slider.querySelectorAll(".noUi-handle")) {
      put(handle, "aria-label", name);
      put(handle, "aria-disabled", still ? "true" : "false");
      put(handle, "tabindex", still ? "-1" : "0");
    }
    const box = slider.querySelector(".widget-readout");
    if (!box) continue;
    put(box, "role", "textbox");
    put(box, "aria-label", `${name}, as a number`);
  }
}

// noUiSlider 15 takes Home and End to the ends that a slider had at first. One step before the end of now an arrow is right.
function toItsEnds(event) {
  const handle = event.target.closest?.(".noUi-handle"), isEnd = event.key === "End";
  const slider = handle?.closest(".noUi-target")?.noUiSlider;
  if (!slider || !(isEnd || event.key === "Home")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const end = Number(isEnd ? handle.ariaValueMax : handle.ariaValueMin), step = slider.options.step || 0;
  slider.setHandle(Number(handle.dataset.handle), isEnd ? end - step : end + step, false);
  handle.dispatchEvent(new KeyboardEvent("keydown", { key: isEnd ? "ArrowRight" : "ArrowLeft", bubbles: true }));
}

function keepNamed(row) {
  nameHandles(row);
  row.addEventListener("keydown", toItsEnds, true);
  const isNumber = ({ target }) => (target.closest ? target : target.parentElement)?.closest(".widget-readout");
  const observer = new MutationObserver((records) => records.every(isNumber) || nameHandles(row)); // a step writes a number
  const attributes = { attributes: true, attributeFilter: ["disabled"] };
  observer.observe(row, { subtree: true, childList: true, characterData: true, ...attributes });
  return observer;
}

// A plain key in a panel belongs to the panel: on a slider, "d d" must not delete the notebook's cell.
// JupyterLab listens on the document, so the window hears first.
function keepKeys(panel) {
  const onKey = (event) => {
    if (!panel.contains(event.target)) return;
    const forTheNotebook = event.ctrlKey || event.metaKey || event.altKey || event.key === "Escape";
    const runs = event.key === "Enter" && event.shiftKey;
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !(forTheNotebook || runs));
  };
  window.addEventListener("keydown", onKey, true);
  return () => window.removeEventListener("keydown", onKey, true);
}

// The controls of a scene, by name: their values are the place that it shows, whoever moves them.
async function controlsOf(model) {
  const named = Object.entries(model.get("controls") ?? {});
  const get = (reference) => model.widget_manager.get_model(reference.slice("IPY_MODEL_".length));
  return Object.fromEntries(await Promise.all(named.map(async ([name, reference]) => [name, await get(reference)])));
}

function talkOf(controls, choices) {
  const isList = (name) => controls[name].get("index") !== undefined;
  return {
    get: (name) => (isList(name) ? choices()[name][controls[name].get("index")] : controls[name].get("value")),
    set(values) {
      for (const [name, value] of Object.entries(values)) {
        const [key, next] = isList(name) ? ["index", choices()[name].indexOf(value)] : ["value", value];
        if (controls[name].get(key) === next) continue;
        controls[name].set(key, next);
        controls[name].save_changes();
      }
    },
    heard(listen) {
      const all = Object.values(controls);
      for (const control of all) control.on("change:value change:index", listen);
      return () => { for (const control of all) control.off("change:value change:index", listen); };
    },
  };
}

// A walk of one parameter has a button beside its slider, which plays it to its end: a step once the last is answered.
function playerOf(panel, control) {
  const label = [...panel.querySelectorAll(".nv-controls .widget-label")].find((one) => one.textContent.trim() === control.get("description"));
  if (!label) return () => {};
  const button = document.createElement("button"), says = `play ${control.get("description")}`;
  button.type = "button";
  button.className = "nv-play";
  button.ariaLabel = button.title = says;
  button.style.cssText = "flex: 0 0 26px; height: 24px; padding: 0; margin: 2px 0 0 4px; cursor: pointer; color: inherit; background: none; border: 1px solid currentColor";
  label.parentElement.append(button);
  let timer = 0;
  const show = () => { button.textContent = timer ? "❚❚" : "▶"; button.disabled = control.get("disabled"); };
  const stop = () => { clearTimeout(timer); timer = 0; show(); };
  const put = (value) => { control.set("value", value); control.save_changes(); };
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const next = () => {
    const [least, most, step] = ["min", "max", "step"].map((name) => control.get(name)), at = control.get("value");
    const by = still.matches ? Math.max(step, Math.round((most - least) / step / 10) * step) : step;
    if (at >= most || control.get("disabled") || panel.querySelector(".nv-gone")) return stop();
    if (!panel.querySelector(".nv-busy")) put(Math.min(most, Math.round((at + by) * 1e6) / 1e6));
    timer = setTimeout(next, still.matches ? 800 : 100);
  };
  button.addEventListener("click", () => {
    if (timer) return stop();
    if (control.get("value") >= control.get("max")) put(control.get("min"));
    timer = setTimeout(next);
    show();
  });
  control.on("change:disabled", show);
  show();
  return () => { stop(); control.off("change:disabled", show); button.remove(); };
}

export default () => {
  let drawn;
  const views = new Set();
  return {
    initialize({ model }) {
      drawn = model.get("drawn");
      const bytes = model.get("code"), page = pageOf(model.get("painter"));
      if (bytes?.byteLength) take(page, bytes);
      const stop = askUntilThere(page, model);
      model.on("msg:custom", (message, buffers) => {
        if (message.painter) return take(page, buffers[0]);
        if (message.whole) drawn = message.whole;
        else if (message.from !== drawn.revision) return model.send({ want: "figure" }); // one was missed
        else {
          for (const [path, value] of message.changes) drawn = changed(drawn, path, value);
          drawn.revision = message.to;
        }
        for (const draw of views) draw();
      });
      model.send({ want: "figure", unless: drawn.revision });
      return stop;
    },

    render({ model, el }) {
      const box = document.createElement("div");
      box.className = `nv-${model.get("painter")}`;
      el.append(box);
      let painter, talk, frame = 0, width = 0, stopped = false, undo = [], rest = 0;
      const keep = async () => { // a notebook that is opened again without its kernel has this picture
        if (stopped || !box.clientWidth || document.hidden) return;
        const size = { width: box.clientWidth, height: box.clientHeight };
        const picture = await painter.toImage(box, { format: "webp", ...size }).catch(() => "");
        if (picture) model.send({ picture });
      };
      const drawNow = async () => {
        frame = 0;
        if (!painter || stopped || width < 200) return;
        if (talk) await painter.react(box, drawn, width, talk);
        else {
          const config = { displaylogo: false, showSendToCloud: false };
          // plotly.js writes into the layout: a copy, so that what the reader turned stays apart from what is drawn.
          await painter.react(box, drawn.data, { ...structuredClone(drawn.layout), width }, config);
        }
        box.dataset.setting = JSON.stringify(drawn.of); // see status.js
        clearTimeout(rest);
        if (model.get("keeps")) rest = setTimeout(keep, 1500);
      };
      const draw = () => { frame ||= requestAnimationFrame(drawNow); };
      views.add(draw);
      const name = model.get("painter");
      pageOf(name).ready.then(async (found) => {
        if (name === "scenes") talk = talkOf(await controlsOf(model), () => drawn.choices);
        painter = found;
        draw();
      }).catch((error) => { box.textContent = `what draws this figure cannot be loaded in this page: ${error}`; });
      const resized = new ResizeObserver(([entry]) => {
        const now = Math.floor(entry.contentRect.width);
        if (now < 200 || Math.abs(now - width) <= 4) return;
        width = now;
        model.set("width", width);
        model.save_changes();
        draw();
      });
      const begin = () => {
        if (stopped) return;
        if (!el.isConnected) return requestAnimationFrame(begin);
        resized.observe(el);
        const panel = el.closest(".nv");
        if (!panel) return;
        undo = [...panel.querySelectorAll(".nv-controls")].map(keepNamed).map((one) => () => one.disconnect());
        undo.push(keepKeys(panel));
        controlsOf(model).then((found) => {
          if (stopped) return;
          undo.push(...model.get("walks").map((name) => playerOf(panel, found[name])));
        });
      };
      begin();
      return () => {
        stopped = true;
        views.delete(draw);
        resized.disconnect();
        for (const one of undo) one();
        painter?.purge(box);
      };
    },
  };
};

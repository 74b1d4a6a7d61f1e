// A panel's figure: plotly.js once a page, the figure as plain data, redrawn at most once a frame.

const page = (globalThis.neurovizPlotly ??= { asked: 0 });
page.ready ??= new Promise((resolve, reject) => Object.assign(page, { resolve, reject }));

async function take(bytes) {
  if (page.taken) return;
  page.taken = true;
  try {
    const script = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const parts = [await new Response(script).arrayBuffer()];
    const url = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
    page.resolve((await import(url)).default);
    URL.revokeObjectURL(url);
  } catch (error) {
    page.reject(error);
  }
}

// The first chart of a kernel brings plotly.js. A page that opened later asks, one chart at a time: the one
// that asked may be closed before the answer.
function askUntilThere(model) {
  const ask = () => {
    if (page.taken || Date.now() - page.asked < 5000) return;
    page.asked = Date.now();
    model.send({ want: "plotly" });
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
  for (const slider of row.querySelectorAll(".widget-slider")) {
    const name = slider.querySelector(".widget-label")?.textContent.trim();
    if (!name) continue;
    const still = slider.querySelector(".noUi-target")?.hasAttribute("disabled");
    for (const handle of slider.querySelectorAll(".noUi-handle")) {
      handle.setAttribute("aria-label", name);
      handle.setAttribute("aria-disabled", still ? "true" : "false");
      handle.tabIndex = still ? -1 : 0;
    }
    const box = slider.querySelector(".widget-readout");
    box?.setAttribute("role", "textbox");
    box?.setAttribute("aria-label", `${name}, as a number`);
  }
}

function keepNamed(row) {
  nameHandles(row);
  const observer = new MutationObserver(() => nameHandles(row));
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

export default () => {
  let drawn;
  const views = new Set();
  return {
    initialize({ model }) {
      drawn = model.get("drawn");
      const bytes = model.get("plotly");
      if (bytes?.byteLength) take(bytes);
      const stop = askUntilThere(model);
      model.on("msg:custom", (message, buffers) => {
        if (message.plotly) return take(buffers[0]);
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
      el.append(box);
      let Plotly, frame = 0, width = 0, listens = false, stopped = false, undo = [];
      const drawNow = async () => {
        frame = 0;
        if (!Plotly || stopped || width < 200) return;
        const { data, layout } = drawn;
        const config = { displaylogo: false, showSendToCloud: false };
        // plotly.js writes into the layout: a copy, so that what the reader turned stays apart from what is drawn.
        await Plotly.react(box, data, { ...structuredClone(layout), width }, config);
        if (listens) return;
        listens = true;
        box.on("plotly_click", ({ points: [{ curveNumber, pointNumber }] }) =>
          model.send({ click: { trace: curveNumber, point: pointNumber } }));
      };
      const draw = () => { frame ||= requestAnimationFrame(drawNow); };
      views.add(draw);
      page.ready.then((found) => { Plotly = found; draw(); }, (error) => {
        box.textContent = `plotly.js cannot be loaded in this page: ${error}`;
      });
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
      };
      begin();
      return () => {
        stopped = true;
        views.delete(draw);
        resized.disconnect();
        for (const one of undo) one();
        Plotly?.purge(box);
      };
    },
  };
};

// The panels of the static edition: one control moves through stills that were computed before.
// Nothing here computes anything but drawing; plotly draws, and is loaded with the first panel in sight. A scene
// draws itself, and what is near: it is taken hold of here, too, and Python's words stay those of the still.
(() => {
  "use strict";
  const found = {};       // name of a panel → its data, once its script has run
  const waiting = {};     // name → what to do then
  const dark = () => {
    const chosen = document.body.dataset.theme;
    return chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  };
  let printing = false;
  const inDark = () => dark() && !printing;

  window.neurovizPanel = (name, data) => { found[name] = data; waiting[name]?.(); };

  // Scripts lie beside this one, so that a folder opened from a disk finds them too.
  const folder = new URL(".", document.currentScript.src).href;
  const loads = {};
  const load = (file) => loads[file] ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = folder + file;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${file} is missing`));
    document.head.append(script);
  });

  const copy = (value) => JSON.parse(JSON.stringify(value));

  const figureAt = (data, place) => {
    const figure = copy(data.figure);
    for (const [path, ...value] of copy(data.stills[place].changes)) {
      const last = path.pop();
      const inside = path.reduce((where, step) => where[step], figure);
      if (value.length) inside[last] = value[0]; else delete inside[last];
    }
    const look = window.neurovizLook;
    if (!inDark()) return { figure, template: look.light };
    const turned = JSON.stringify(figure).replace(/#[0-9A-Fa-f]{6}\b/g, (code) => look.turn[code.toUpperCase()] ?? code);
    return { figure: JSON.parse(turned), template: look.dark };
  };

  class Panel {
    constructor(element) {
      this.element = element;
      this.place = Number(element.dataset.here);
      this.control = element.querySelector("input, select");
      this.drawing = element.querySelector(".nv-figure");
      // A browser that goes back remembers where a slider stood.
      if (this.control) {
        this.control.value = this.place;
        this.control.addEventListener("input", () => { this.place = Number(this.control.value); this.show(); });
      }
      new ResizeObserver(() => this.data && this.fit()).observe(element);
    }
    async wake() {
      if (this.data) return;
      const name = this.element.id;
      await Promise.all([load("look.js"), load(`panels/${name}.js`)]);
      this.isScene = !!found[name].figure.layout.meta;
      await load(this.isScene ? "scenes.js" : "plotly.min.js");
      this.data = found[name];
      this.show();
    }
    get width() { return Math.max(this.drawing.parentElement.clientWidth, 820); }
    fit() {
      if (Math.abs(this.width - this.drawn) > 4) this.show();
    }
    show() {
      if (!this.data) return;
      const still = this.data.stills[this.place];
      const { figure, template } = figureAt(this.data, this.place);
      this.drawn = this.width;
      const layout = { ...figure.layout, template, width: this.drawn, autosize: false };
      const painter = this.isScene ? neurovizScenes : Plotly;
      painter.react(this.drawing, figure.data, layout, { displaylogo: false, showSendToCloud: false });
      if (this.control) {
        this.element.querySelector(".nv-title").innerHTML = still.title;
        this.element.querySelector(".nv-description").textContent = still.description;
      }
      this.drawing.setAttribute("aria-label", still.description);
      const output = this.element.querySelector("output");
      if (output) {
        output.textContent = still.label;
        this.control.setAttribute("aria-valuetext", still.label);
      }
      this.element.dataset.shown = this.place;
    }
  }

  const start = () => {
    const panels = [...document.querySelectorAll(".nv-panel")].map((element) => new Panel(element));
    const byElement = new Map(panels.map((panel) => [panel.element, panel]));
    const sight = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) byElement.get(entry.target).wake();
    }, { rootMargin: "800px" });
    for (const panel of panels) sight.observe(panel.element);

    const redraw = () => panels.forEach((panel) => panel.show());
    new MutationObserver(redraw).observe(document.body, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

    // On paper: light, everything drawn as far as it was loaded, and nothing folded.
    let folded = [];
    addEventListener("beforeprint", () => {
      printing = true;
      folded = [...document.querySelectorAll("article details:not([open])")];
      folded.forEach((details) => { details.open = true; });
      redraw();
    });
    addEventListener("afterprint", () => {
      printing = false;
      folded.forEach((details) => { details.open = false; });
      redraw();
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();

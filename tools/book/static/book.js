// The panels of the static edition: one control moves through stills that were computed before; plotly draws them,
// and is loaded with the first panel in sight. A scene draws itself, and what is near: it is taken hold of here, too,
// and Python's words stay those of the still. "Live" puts the panel itself in their place: see live/.
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

  // One Python for all live panels of the page, fetched at the first press. It needs a page from a server.
  let python;
  const begin = async () => (await import(`${folder}live/start.js`)).default();

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
      this.live = element.querySelector(".nv-live");
      this.says = element.querySelector(".nv-says");
      if (this.live && location.protocol.startsWith("http")) {
        this.live.hidden = false;
        this.live.addEventListener("click", () => this.open());
        for (const preset of element.querySelectorAll(".nv-presets span")) this.makePreset(preset);
        const { panel } = JSON.parse(element.dataset.open);
        const [, name, place = element.id] = /^#(\w+)(?:@([\w-]+))?:/.exec(location.hash) ?? [];
        if (name === panel && place === element.id && !Panel.linked) {
          Panel.linked = this; // opened by an address: the panel itself reads the state
          addEventListener("load", () => element.scrollIntoView());
          this.open().then(() => element.scrollIntoView());
        }
      }
      new ResizeObserver(() => this.data && this.fit()).observe(element);
    }
    // What a preset names is a state of the panel itself.
    makePreset(words) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = words.textContent;
      button.title = "opens the panel itself, as Live does";
      words.replaceWith(button);
      button.addEventListener("click", async () => {
        await this.open();
        const press = () => { // once it is drawn
          const presets = [...this.element.querySelectorAll(".nv-place .nv-presets button")];
          const its = presets.find((one) => one.textContent === button.textContent);
          if (its) its.click();
          else if (this.element.dataset.live) requestAnimationFrame(press);
        };
        press();
      });
    }
    // The panel itself, as the notebook opens it or with another state; the still stays until it has come.
    async open(state) {
      if (this.live.ariaDisabled) return; // it opens already; a disabled button would lose the focus
      this.live.ariaDisabled = "true";
      const how = JSON.parse(this.element.dataset.open);
      const place = document.createElement("div");
      const show = ({ words, share }) => {
        if (!words) return this.says.replaceChildren();
        const bar = this.says.querySelector("progress") ?? document.createElement("progress");
        bar.value = share;
        bar.setAttribute("aria-label", "how far it is");
        if (!bar.isConnected) this.says.replaceChildren(bar, document.createElement("span"));
        this.says.lastChild.textContent = words;
      };
      try {
        load.css ??= document.head.append(Object.assign(document.createElement("link"),
          { rel: "stylesheet", href: `${folder}live/live.css` })) ?? true;
        python ??= begin();
        const its = await python;
        its.onProgress = show;
        place.className = "nv-place";
        place.tabIndex = -1;
        place.setAttribute("role", "group");
        place.setAttribute("aria-label", this.element.querySelector(".nv-title").firstChild.textContent.trim());
        this.element.append(place);
        this.mode = dark() ? "dark" : "light";
        const close = await its.open(place, { ...how, state: state ?? how.state, mode: this.mode });
        this.close?.();
        const had = this.element.contains(document.activeElement); // the button that was pressed goes
        for (const other of [...this.element.children]) if (other !== place) other.hidden = true;
        this.close = () => { close(); place.remove(); };
        this.element.dataset.live = "yes";
        if (had) place.focus({ preventScroll: true });
      } catch (error) {
        this.says.textContent =
          `${error.message}. Press again to try once more; the notebook can be downloaded below.`;
        if (error.isPython) python = undefined; // and not the panel
        place.remove();
      } finally {
        this.live.ariaDisabled = null;
      }
    }
    // The page has become dark or light.
    turn() {
      if (!this.element.dataset.live) return this.show();
      const mode = dark() ? "dark" : "light";
      if (mode !== this.mode) this.open(this.element.querySelector(".nv-state input").placeholder);
    }
    async wake() {
      if (this.data) return;
      const name = this.element.id;
      try {
        await Promise.all([load("look.js"), load(`panels/${name}.js`)]);
        const { figure } = found[name];
        this.isScene = !!figure.facts;
        await load(this.isScene ? "scenes.js" : "plotly.min.js");
      } catch (error) {
        const says = this.says ?? this.drawing.appendChild(document.createElement("p"));
        says.textContent = `This picture cannot move: ${error.message}. Load the page again.`;
        return;
      }
      this.data = found[name];
      this.show();
    }
    // A scene fits the width of a phone; a chart of plotly is scrolled there, as its words have their size.
    get width() {
      const { clientWidth } = this.drawing.parentElement;
      return this.data.figure.facts ? clientWidth : Math.max(clientWidth, 820);
    }
    fit() {
      if (Math.abs(this.width - this.drawn) > 4) this.show();
    }
    show() {
      // Until its stills are here, the words are those of the place that the page came with.
      const isOld = !this.data && this.place !== Number(this.element.dataset.here);
      this.element.classList.toggle("nv-old", isOld);
      if (!this.data || this.element.dataset.live) return;
      const still = this.data.stills[this.place];
      const { figure, template } = figureAt(this.data, this.place);
      this.drawn = this.width;
      if (figure.facts) neurovizScenes.react(this.drawing, figure, this.drawn);
      else {
        const layout = { ...figure.layout, template, width: this.drawn, autosize: false };
        Plotly.react(this.drawing, figure.data, layout, { displaylogo: false, showSendToCloud: false });
      }
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

    const redraw = () => panels.forEach((panel) => panel.turn());
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

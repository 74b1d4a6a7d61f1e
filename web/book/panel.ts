/**
 * A panel of the static edition: one control moves through stills that were computed before;
 * plotly draws them, and is loaded with the first panel in sight. A scene draws itself, and what is
 * near: it is taken hold of here, too, and while it is elsewhere than its still, Python's words are
 * hidden. Presets have stills of their own. "Live" puts the panel itself in their place: see
 * live.ts.
 */
import { FOLDER, load, loadStyle } from "./load";
import type { How, LivePanel, Python } from "./live";
import type { Progress } from "./messages";
import { chosenMode, isDark, type Mode } from "./mode";
import { lead } from "../kit/lead";
import { partsOf, type Talk, type Value } from "../kit/picture";
import { forFingers } from "../kit/panel/fingers";
import { withoutTouching } from "../kit/panel/cell_numbers";
import { followChart } from "./scrolling";
import { countSideBySide, SIDE_BY_SIDE, stacked } from "./stacked";
import {
  areOfOneNetwork,
  figureAt,
  inDark,
  inWords,
  isSame,
  isScene,
  nearest,
  placeAt,
  placeOf,
  withoutAnswers,
  type Look,
  type Panel as Data,
} from "./stills";

declare global {
  // What the scripts leave behind that are loaded with a panel.
  var neurovizPanel: (name: string, data: Data) => void;
  var neurovizLook: Look;
}

const NEAR = 4; // pixels: a scroll bar that comes and goes
// Pixels: a narrower page scrolls a chart, as its words have their size. Two charts that stand side
// by side stand one below the other there, and need less.
const LEAST_CHART = SIDE_BY_SIDE;
const LEAST_STACKED = 300;
const REST = 150; // milliseconds: a scene that rests at the place of a still shows it
const CONFIG = { displaylogo: false, showSendToCloud: false };

/** The script that draws a figure. */
const scriptOf = (figure: Data["figure"]): string =>
  isScene(figure) ? `scenes/${partsOf(figure.name).section}.js` : "plotly.min.js";

/** Name of a panel → its data, once its script has run. */
const found: Record<string, Data> = {};
globalThis.neurovizPanel = (name, data) => void (found[name] = data);

/** One Python for all live panels of the page, fetched at the first press. It needs a server. */
let python: Promise<Python> | undefined;

async function begin(): Promise<Python> {
  // A browser keeps in mind that a module did not come; what is fetched it asks for again.
  const needed = ["start.js", "live.js"].map((name) => fetch(`${FOLDER}live/${name}`));
  for (const { ok, url } of await Promise.all(needed)) if (!ok) throw new Error(`no ${url}`);
  const { default: start } = await import(`${FOLDER}live/start.js`);
  return start();
}

/** The Python of the page; the error says where there is none. */
async function arrived(): Promise<Python> {
  try {
    return await (python ??= begin());
  } catch (error) {
    throw Object.assign(error as Error, { isPython: true });
  }
}

const ELSE = "The picture stays as it is; below it the notebook can be downloaded.";
const NO_PYTHON =
  "Python did not come: this page could not fetch it, or the browser could not start it. " +
  `Look whether the network is there, then press Live again. ${ELSE}`;
const NO_PANEL =
  "Python came, but this panel did not open. Press Live again to try once more. " + ELSE;

/** Whether the address of the page has opened a panel. */
let isOpened = false;

export class Panel {
  private data: Data | undefined;
  private place: number;
  private drawn = 0; // its width
  private mode: Mode | undefined;
  private opened: LivePanel | undefined;
  /** The controls of a scene. */
  private talk: Talk | undefined;
  private rest = 0;
  /** Whether a hand is on the scene. */
  private isHeld = false;
  private readonly control: HTMLInputElement | HTMLSelectElement | null;
  private readonly drawing: HTMLElement;
  private readonly live: HTMLButtonElement | null;
  private readonly says: HTMLElement | null;

  constructor(readonly element: HTMLElement) {
    this.place = Number(element.dataset.here);
    this.control = element.querySelector("input, select");
    this.drawing = element.querySelector(".nv-figure")!;
    this.live = element.querySelector(".nv-live");
    this.says = element.querySelector(".nv-says");
    if (this.control) this.listenTo(this.control);
    this.makePresets();
    element.querySelector(".nv-return")?.addEventListener("click", () => this.goBack());
    if (this.live && location.protocol.startsWith("http")) this.offer(this.live);
    element.querySelector(".nv-show")?.addEventListener("click", () => this.showWords());
    new ResizeObserver(() => this.fit()).observe(element);
    this.drawing.addEventListener("pointerdown", () => void (this.isHeld = true));
    for (const kind of ["pointerup", "pointercancel"]) {
      addEventListener(kind, () => void (this.isHeld = false));
    }
  }

  /** Loads what the panel needs; once it is near the window. */
  async wake() {
    if (this.data) return;
    const name = this.element.id;
    try {
      await Promise.all([load("look.js"), load(`panels/${name}.js`)]);
      await load(scriptOf(found[name].figure));
    } catch (error) {
      const says = this.says ?? this.drawing.appendChild(document.createElement("p"));
      says.textContent =
        "This picture cannot move: a part of it did not come. Load the page again.";
      console.warn(error);
      return;
    }
    this.data = found[name];
    this.show();
  }

  /** The page has become dark or light. */
  turn() {
    if (!this.isLive) return this.show();
    if (chosenMode() === this.mode) return;
    this.open({ like: this.opened!.model });
  }

  /** The topic of a question that comes first. */
  get asks(): string | null {
    const { open } = this.element.dataset;
    return open ? JSON.parse(open).asks : null;
  }

  /** Whether the words wait for a guess. */
  private get isAsking(): boolean {
    return this.element.classList.contains("nv-asking");
  }

  /** Somebody has guessed, moved something, or asked for the words. */
  showWords() {
    if (!this.isAsking) return;
    this.element.classList.remove("nv-asking");
    this.name();
    if (this.data && !this.isLive) this.draw(this.data);
  }

  /** What a screen reader calls the figure. */
  private name() {
    if (!this.data || this.isLive) return;
    const title = this.element.querySelector(".nv-title")?.firstChild?.textContent?.trim() ?? "";
    const { description } = this.data.stills[this.place];
    const isSilent = this.isAsking || this.isAway;
    this.drawing.setAttribute("aria-label", isSilent ? title : description);
  }

  private get isLive(): boolean {
    return Boolean(this.element.dataset.live);
  }

  private listenTo(control: HTMLInputElement | HTMLSelectElement) {
    // A browser that goes back remembers where a slider stood.
    control.value = String(this.place);
    control.addEventListener("input", () => {
      const place = Number(control.value);
      this.showWords();
      if (this.wouldUndo(place)) return this.moveAlone(place);
      this.place = place;
      this.show();
    });
  }

  /** Whether a still of the control would undo what a hand or a preset has set in the scene. */
  private wouldUndo(place: number): boolean {
    const { data, talk } = this;
    if (!data?.name || !talk || this.isLive) return false;
    const { [data.name]: value, ...others } = placeOf(data, place);
    const isElsewhere = !isAt(talk, others) || !areOfOneNetwork(data, place, this.place);
    if (value === undefined || !isElsewhere) return false;
    // Words that a hand has set, such as the widths of all layers, may not fit another value.
    return hasSameWords(talk, others) || hasSameWords(talk, placeOf(data, this.place));
  }

  /** The control moves in the scene, and nothing else does. */
  private moveAlone(place: number) {
    const name = this.data!.name!;
    this.talk!.set({ [name]: placeOf(this.data!, place)[name] });
  }

  // The still

  private show() {
    // Until its stills are here, the words are those of the place that the page came with.
    const isOld = !this.data && this.place !== Number(this.element.dataset.here);
    this.element.classList.toggle("nv-old", isOld);
    if (!this.data || this.isLive) return;
    this.draw(this.data);
    const { value, label, state, title, description, idle } = this.data.stills[this.place];
    if (this.control) {
      this.element.querySelector(".nv-title")!.innerHTML = title;
      this.element.querySelector(".nv-description")!.textContent = description;
      this.element.querySelector(".nv-at code")!.textContent = state!;
      this.put(this.place < this.data.main! ? this.place : nearest(this.data, value!), label);
      this.setIdle(idle ?? false);
    }
    this.name();
    this.element.dataset.shown = String(this.place);
  }

  /** Whether the control has anything to move. */
  private setIdle(isIdle: boolean) {
    this.control!.disabled = isIdle;
    const output = this.element.querySelector("output");
    if (isIdle && output) output.textContent = "moves nothing here";
  }

  /** The control and what stands beside it; a choice without a still leaves it empty. */
  private put(place: number, label: string) {
    const control = this.control!;
    if (control instanceof HTMLSelectElement) control.selectedIndex = place;
    else control.value = String(place);
    const output = this.element.querySelector("output");
    if (!output) return;
    output.textContent = label;
    control.setAttribute("aria-valuetext", label);
  }

  // A scene that the reader moves

  /** Whether the scene is elsewhere than the still. */
  private get isAway(): boolean {
    const { data, talk } = this;
    return Boolean(data && talk) && !isAt(talk!, placeOf(data!, this.place));
  }

  /** The control goes with the scene; where it rests at the place of a still, that is shown. */
  private follow() {
    clearTimeout(this.rest);
    const { data, talk } = this;
    if (!data || !talk || this.isLive || !this.control) return;
    this.name();
    const value = data.name! in placeOf(data, this.place) ? talk.get(data.name!) : undefined;
    if (this.isAway && value !== undefined) this.put(nearest(data, value), inWords(data, value));
    const { idle } = data.stills[this.place];
    this.setIdle(idle !== undefined && hasSameWords(talk, placeOf(data, this.place)));
    this.rest = window.setTimeout(() => {
      // A still would draw anew what a hand holds.
      if (this.isHeld) return this.follow();
      const place = placeAt(data, (still) => isAt(talk, still), this.place);
      if (place === undefined) return;
      this.place = place;
      this.show();
    }, REST);
  }

  private goBack() {
    this.talk?.set(placeOf(this.data!, this.place));
    this.show();
    this.control?.focus({ preventScroll: true });
  }

  private draw(data: Data) {
    const { light, dark, turn } = globalThis.neurovizLook;
    const its = figureAt(data, this.place);
    const still = this.isAsking ? withoutAnswers(its) : its;
    const figure = isDark() ? inDark(still, turn) : still;
    this.drawn = this.widthFor(data);
    if (isScene(figure)) {
      globalThis.neurovizScenes.react(this.drawing, figure, this.drawn);
      if (this.talk) return;
      this.talk = globalThis.neurovizScenes.talkOf(this.drawing)!;
      this.talk.heard(() => this.follow());
      return;
    }
    const placed = stacked(figure.layout, this.drawn);
    const layout = {
      ...forFingers(placed),
      template: isDark() ? dark : light,
      width: this.drawn,
      autosize: false,
    };
    const traces = withoutTouching(figure.data, placed, this.drawn);
    globalThis.Plotly.react(this.drawing, traces, layout, CONFIG);
    // Its name says all; what can be pressed beside it stays.
    for (const part of this.drawing.querySelectorAll(".main-svg")) part.ariaHidden = "true";
  }

  private fit() {
    if (this.data && Math.abs(this.widthFor(this.data) - this.drawn) > NEAR) this.show();
  }

  /** A scene fits the width of a phone. */
  private widthFor({ figure }: Data): number {
    const { clientWidth } = this.drawing.parentElement!;
    if (isScene(figure)) return clientWidth;
    const isOne = countSideBySide(figure.layout) === 1;
    return Math.max(clientWidth, isOne ? LEAST_CHART : LEAST_STACKED);
  }

  // The panel itself

  private offer(live: HTMLButtonElement) {
    live.hidden = false;
    this.element.querySelector<HTMLElement>(".nv-cost")!.hidden = false;
    live.addEventListener("click", () => this.open());
    if (isOpened || !this.isLinked()) return;
    isOpened = true;
    const show = () => this.element.scrollIntoView();
    addEventListener("load", show);
    this.open().then(show);
  }

  /** Whether the address of the page names this panel, which then reads the state. */
  private isLinked(): boolean {
    const { id, dataset } = this.element;
    const { panel } = JSON.parse(dataset.open!);
    const address = /^#(\w+)(?:@([\w-]+))?:/.exec(location.hash);
    if (!address) return false;
    const [, name, place = id] = address;
    return name === panel && place === id;
  }

  /** The buttons of this panel, in it and elsewhere; one without a still needs Python. */
  private makePresets() {
    const { id } = this.element;
    const own = this.element.querySelectorAll<HTMLElement>(".nv-presets span");
    const others = document.querySelectorAll<HTMLElement>(`.nv-presets[data-panel="${id}"] span`);
    for (const words of [...own, ...others]) {
      const isHere = words.dataset.still !== undefined;
      if (!isHere && !location.protocol.startsWith("http")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = words.textContent;
      if (!isHere) button.title = "needs Live: fetches Python, some 11 MB, once";
      Object.assign(button.dataset, words.dataset);
      words.replaceWith(button);
      button.addEventListener("click", () => this.press(button));
    }
  }

  private async press(button: HTMLButtonElement) {
    const { still, state } = button.dataset;
    if (!this.element.contains(button)) lead(this.element, button);
    this.showWords();
    if (still === undefined) await this.open();
    if (this.isLive || still === undefined) return this.opened?.go(state!);
    this.place = Number(still);
    await this.wake();
    this.show();
  }

  /**
   * The panel as the notebook opens it, or like an open one; the still stays until it has come.
   */
  private async open(other: { like?: string } = {}) {
    const live = this.live!;
    // It opens already; a disabled button would lose the focus.
    if (live.ariaDisabled) return;
    live.ariaDisabled = "true";
    const place = document.createElement("div");
    try {
      loadStyle();
      const its = await arrived();
      its.onProgress = (progress) => this.tell(progress);
      this.frame(place);
      this.mode = chosenMode();
      const how: How = JSON.parse(this.element.dataset.open!);
      const asks = this.isAsking ? this.asks : null;
      const opened = { ...how, ...other, asks, mode: this.mode };
      const next = await its.open(place, opened);
      this.opened?.close();
      this.opened = {
        ...next,
        close() {
          next.close();
          place.remove();
        },
      };
      this.giveWayTo(place);
      document.body.dataset.python = "yes"; // nobody has to be told again what it costs
    } catch (error) {
      const isPython = (error as { isPython?: boolean }).isPython ?? false;
      if (isPython) python = undefined; // and not the panel
      this.says!.textContent = isPython ? NO_PYTHON : NO_PANEL;
      console.warn(error);
      place.remove();
      return;
    } finally {
      live.ariaDisabled = null;
    }
    // The page may have become dark or light meanwhile.
    if (chosenMode() !== this.mode) this.turn();
  }

  private frame(place: HTMLElement) {
    const title = this.element.querySelector(".nv-title")!.firstChild!.textContent!;
    place.className = "nv-place";
    place.tabIndex = -1;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", title.trim());
    this.element.append(place);
    followChart(place);
  }

  /** The still goes, with the button that was pressed. */
  private giveWayTo(place: HTMLElement) {
    const hadFocus = this.element.contains(document.activeElement);
    clearTimeout(this.rest);
    this.element.classList.remove("nv-ahead");
    for (const other of [...this.element.children]) {
      const stays = other === place || other.classList.contains("nv-back");
      if (!stays) (other as HTMLElement).hidden = true;
    }
    this.element.dataset.live = "yes";
    if (hadFocus) place.focus({ preventScroll: true });
  }

  private tell({ words, share }: Progress) {
    const says = this.says!;
    if (!words) return says.replaceChildren();
    let bar = says.querySelector("progress");
    if (!bar) {
      bar = document.createElement("progress");
      bar.setAttribute("aria-label", "how far it is");
      says.replaceChildren(bar, document.createElement("span"));
    }
    bar.value = share;
    says.lastChild!.textContent = words;
  }
}

/** Whether all that is no number, such as a choice, is as in this place. */
function hasSameWords(talk: Talk, place: Record<string, Value>): boolean {
  const words = Object.entries(place).filter(([, its]) => typeof its !== "number");
  return isAt(talk, Object.fromEntries(words));
}

const isAt = (talk: Talk, place: Record<string, Value>): boolean =>
  Object.entries(place).every(([name, value]) => isSame(talk.get(name), value));

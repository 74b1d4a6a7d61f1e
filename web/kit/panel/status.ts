/**
 * The status line of a panel or a question, and the one rule by which a page knows what is out of
 * date: every answer of Python carries the values of the controls that it is of (data-setting), and
 * the page compares them with its own controls, again and again. No event has to arrive: a kernel
 * that is busy, that is gone, or that was restarted elsewhere look alike.
 */
import { FAILED, UNDRAWN } from "../failure";
import { lead } from "../lead";
import { isForgotten, RESTARTED, watch } from "./kernel";
import { LATE, memoryOf, type Memory, type Values } from "./memory";
import { controlsOf, type Controls, type Model, type References } from "./model";
import { Silence } from "./silence";

const LOOK_EVERY = 50; // milliseconds
const ASK_AFTER = 3000; // then the kernel is asked whether it knows this panel at all

type Kind = "done" | "busy" | "stale" | "error" | "gone";

interface Said {
  text: string;
  kind: Kind;
  of: Values;
}

/** Python has heard so many presses of buttons. */
interface Heard {
  heard?: number;
}

type StatusModel = Model<{ said: Said; controls: References }, Heard>;

// A timer keeps still.
const ROLES: Partial<Record<Kind, string>> = { error: "alert", gone: "alert", busy: "timer" };
const SIGNS: Partial<Record<Kind, string>> = { error: "▨ ", gone: "▨ " };

export default () => {
  const lines = new Set<Line>();
  let gone = "";

  function say(words: string) {
    gone = words;
    for (const line of lines) line.look();
  }

  return {
    initialize({ model }: { model: StatusModel }) {
      return watch(model.widget_manager.kernel, say);
    },

    render({ model, el }: { model: StatusModel; el: HTMLElement }) {
      const line = new Line(model, el, () => gone, say);
      lines.add(line);
      return () => {
        lines.delete(line);
        line.close();
      };
    },
  };
};

/** A panel, once the line stands in it. */
interface Panel {
  element: Element;
  controls: Controls;
  memory: Memory;
}

class Line {
  private readonly line = document.createElement("div");
  private shown = "";
  private readonly silence = new Silence();
  private panel: Panel | null = null;
  private isClosed = false;
  private timer = 0;
  /** How often a button was pressed, and how many of these presses Python has heard of. */
  private presses = 0;
  private heardPresses = 0;
  /** When one was pressed last, in milliseconds. */
  private pressedAt = 0;
  /** For Python, while it keeps still. */
  private waits: { since: number; hasAsked: boolean } | null = null;

  /** `gone` says why there is no Python; `say` tells the other lines of the widget, too. */
  constructor(
    private readonly model: StatusModel,
    private readonly element: HTMLElement,
    private readonly gone: () => string,
    private readonly say: (words: string) => void,
  ) {
    element.classList.add("nv-line");
    element.append(this.line);
    const { text, kind } = model.get("said");
    this.show(kind, text, false);
    this.begin();
  }

  readonly look = () => {
    if (!this.panel) return;
    const { element, memory } = this.panel;
    memory.look();
    for (const piece of element.querySelectorAll<HTMLElement>("[data-setting]")) {
      const frame = piece.closest(".widget-html, .nv-figure") ?? piece;
      frame.classList.toggle("nv-old", memory.isOld(JSON.parse(piece.dataset.setting!)));
    }

    const { text, kind, of } = this.model.get("said");
    const isUnheard = this.presses > this.heardPresses && performance.now() - this.pressedAt > LATE;
    const isWaiting = isUnheard || memory.isOld(of);
    const gone = this.gone();
    if (gone) this.show("gone", gone, isWaiting);
    // A question keeps still meanwhile.
    else if (memory.todo) this.show("stale", text && memory.todo, false);
    else if (isWaiting) this.show("busy", this.counted("waiting for Python"), true);
    // Python has done its part; what failed stands in the place of the picture.
    else if (element.querySelector(`.${FAILED}`)) this.show("error", UNDRAWN, false);
    else this.show(kind, kind === "busy" ? this.counted(text) : text, false);

    if (isWaiting && !memory.todo && !gone) this.wait();
    else this.waits = null;
  };

  close() {
    this.isClosed = true;
    clearInterval(this.timer);
    this.model.off("msg:custom", this.onHeard);
    this.model.off("change:said", this.look);
    if (!this.panel) return;
    const { element, controls, memory } = this.panel;
    element.removeEventListener("click", this.onPress);
    document.removeEventListener("click", this.onLead);
    for (const control of Object.values(controls)) {
      control.off("change:value change:index", memory.look);
    }
  }

  /** Once the line stands in a panel. */
  private async begin() {
    if (this.isClosed) return;
    const element = this.element.closest(".nv");
    if (!element) {
      requestAnimationFrame(() => this.begin());
      return;
    }
    const controls = await controlsOf(this.model);
    if (this.isClosed) return;
    const memory = memoryOf(controls, element);
    this.panel = { element, controls, memory };
    element.addEventListener("click", this.onPress);
    document.addEventListener("click", this.onLead);
    this.model.on("msg:custom", this.onHeard);
    this.model.on("change:said", this.look);
    for (const control of Object.values(controls)) {
      control.on("change:value change:index", memory.look);
    }
    this.timer = window.setInterval(this.look, LOOK_EVERY);
    this.look();
  }

  private counted(text: string): string {
    return this.silence.after(text, performance.now());
  }

  private show(kind: Kind, text: string, isWaiting: boolean) {
    const next = `${kind} ${isWaiting} ${text}`;
    if (next === this.shown) return;
    this.shown = next;
    this.line.className = `nv-status nv-${kind}${isWaiting ? " nv-waiting" : ""}`;
    this.line.setAttribute("role", ROLES[kind] ?? "status");
    this.line.title = text;
    this.line.textContent = (SIGNS[kind] ?? "") + text;
  }

  /** Asks the kernel once whether it knows the panel, after some time. */
  private wait() {
    this.waits ??= { since: performance.now(), hasAsked: false };
    if (this.waits.hasAsked || performance.now() - this.waits.since <= ASK_AFTER) return;
    this.waits.hasAsked = true;
    isForgotten(this.model.widget_manager.kernel, this.panel!.controls).then(
      (hasForgotten) => {
        if (hasForgotten) this.say(RESTARTED);
      },
      () => {}, // no answer either
    );
  }

  private readonly onPress = ({ target }: Event) => {
    const element = target as Element;
    if (!element.closest(".jupyter-button") || element.closest(".nv-copy")) return;
    this.presses += 1;
    this.pressedAt = performance.now();
    const heard = this.presses;
    setTimeout(() => this.model.send({ heard })); // after the button itself has spoken
  };

  /** A preset that stands elsewhere leads here. */
  private readonly onLead = ({ target }: Event) => {
    const { element } = this.panel!;
    const button = (target as Element).closest<HTMLElement>(".nv-presets .jupyter-button");
    const row = button?.closest("[class*=nv-to-]");
    const its = [...(row?.classList ?? [])].find((name) => name.startsWith("nv-to-"));
    if (!its || !element.classList.contains(its.replace("nv-to-", "nv-is-"))) return;
    lead(element as HTMLElement, button!);
  };

  private readonly onHeard = ({ heard }: Heard) => {
    if (heard) this.heardPresses = Math.max(this.heardPresses, heard);
  };
}

/**
 * What the controls show, and when they have left which values. An answer to values that they left
 * a moment ago is as good as new: a picture that follows a drag is not dimmed all the time.
 */
import type { Value } from "../picture";
import type { Control, Controls } from "./model";
import type { Slider } from "./sliders";

/** Milliseconds that an answer may be behind the controls. */
export const LATE = 150;

/** Name of a control → its value, or its words where it is a list. */
export type Values = Record<string, Value | null>;

export interface Memory {
  /** Looks at the controls again. */
  look(): void;
  /** What the reader has to do before Python hears what the page shows; mostly nothing. */
  readonly todo: string;
  /** Whether what is of these values is shown too late. */
  isOld(of: Values): boolean;
}

/** A value that Python does not know yet. */
interface Unsaid {
  value: Value;
  todo: string;
}

export function memoryOf(controls: Controls, panel: Element): Memory {
  const elementOf = elementsOf(controls, panel);
  const left = new Map<string, number>();

  function read() {
    const values: Values = {};
    let todo = "";
    for (const [name, control] of Object.entries(controls)) {
      const held = unsaid(control, elementOf(name));
      values[name] = held ? held.value : valueOf(control);
      todo ||= held?.todo ?? "";
    }
    return { key: keyOf(values), todo };
  }

  let now = read();
  return {
    look() {
      const time = performance.now();
      const next = read();
      if (next.key !== now.key) left.set(now.key, time);
      now = next;
      for (const [key, since] of left) if (time - since > 10 * LATE) left.delete(key);
    },
    get todo() {
      return now.todo;
    },
    isOld(of) {
      const key = keyOf(of);
      return key !== now.key && performance.now() - (left.get(key) ?? -Infinity) > LATE;
    },
  };
}

/** A value as text that is the same for the same value, whoever has rounded it. */
export function keyOf(values: Values): string {
  const names = Object.keys(values).sort();
  return JSON.stringify(names.map((name) => [name, plain(values[name])]));
}

const plain = <Any>(value: Any) =>
  typeof value === "number" ? Number(value.toPrecision(10)) : value;

/** The element of a control in this panel; null until it is there: a row may be unfolded later. */
function elementsOf(controls: Controls, panel: Element) {
  const found: Record<string, HTMLElement> = {};
  return (name: string): HTMLElement | null => {
    if (found[name]?.isConnected) return found[name];
    for (const view of Object.values(controls[name].views ?? {})) {
      view.then(({ el }) => {
        if (panel.contains(el)) found[name] = el;
      });
    }
    return null;
  };
}

function valueOf(control: Control): Value | null {
  const words = control.get("_options_labels");
  if (!words) return control.get("value");
  const index = control.get("index");
  return index == null ? null : (words[index] ?? null);
}

/**
 * What the reader sees in a control that tells Python later: a slider that is still held, a text
 * that is not entered. Null where it is what the control's value says.
 */
function unsaid(control: Control, element: HTMLElement | null): Unsaid | null {
  if (control.get("continuous_update") !== false || !element) return null;
  const slider = element.querySelector<Slider>(".noUi-target");
  if (slider?.querySelector(".noUi-active")) {
    const value = Number(slider.noUiSlider!.get(true));
    const isSaid = plain(value) === plain(control.get("value"));
    return isSaid ? null : { value, todo: "let go of the slider: Python answers then" };
  }
  const box = element.querySelector<HTMLInputElement>("input[type=text]");
  if (!box || box.value === control.get("value")) return null;
  return { value: box.value, todo: "press Enter: Python answers then" };
}

/** The controls of a panel, as a scene moves and hears them. */
import { throttle } from "throttle-debounce";
import type { Talk, Value } from "../picture";
import type { Controls } from "./model";

const MOVES = "change:value change:index";

/**
 * Milliseconds between two moves of the controls. A scene follows the hand by itself, in every
 * frame; a slider and Python's words need not, and each move of them costs JupyterLab more than the
 * frame.
 */
const REST = 40;

/** `choices` are the values of the lists, as Python said them last. */
export function talkOf(controls: Controls, choices: () => Record<string, Value[]>): Talk {
  /** Where the controls go: until all are there, this is what the scene hears of them. */
  let next: Record<string, Value> = {};
  const move = throttle(REST, () => {
    for (const [name, value] of Object.entries(next)) set(name, value);
    next = {};
  });
  const indexOf = (name: string) => controls[name].get("index");

  function set(name: string, value: Value) {
    const control = controls[name];
    if (indexOf(name) === undefined) {
      if (control.get("value") === value) return;
      control.set("value", value);
    } else {
      const index = choices()[name].indexOf(value);
      if (control.get("index") === index) return;
      control.set("index", index);
    }
    control.save_changes();
  }

  return {
    isAlone: false,
    get(name) {
      if (name in next) return next[name];
      const index = indexOf(name);
      return index === undefined ? controls[name].get("value") : choices()[name][index];
    },
    set(values) {
      Object.assign(next, values);
      move();
    },
    heard(listen) {
      const all = Object.values(controls);
      for (const control of all) control.on(MOVES, listen);
      return () => {
        for (const control of all) control.off(MOVES, listen);
      };
    },
  };
}

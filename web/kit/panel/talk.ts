/** The controls of a panel, as a scene moves and hears them. */
import type { Talk, Value } from "../picture";
import type { Controls } from "./model";

const MOVES = "change:value change:index";

/** `choices` are the values of the lists, as Python said them last. */
export function talkOf(controls: Controls, choices: () => Record<string, Value[]>): Talk {
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
    get(name) {
      const index = indexOf(name);
      return index === undefined ? controls[name].get("value") : choices()[name][index];
    },
    set(values) {
      for (const [name, value] of Object.entries(values)) set(name, value);
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

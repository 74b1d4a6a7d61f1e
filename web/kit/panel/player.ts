/** A walk of one parameter has a button beside its slider, which plays it to its end. */
import { isStill } from "../motion";
import { to6 } from "../numbers";
import type { Control } from "./model";

const LOOK = `flex: 0 0 26px; height: 24px; padding: 0; margin: 2px 0 0 4px; cursor: pointer;
  color: inherit; background: none; border: 1px solid currentColor`;
const STEP_EVERY = 100; // milliseconds
const STILL_EVERY = 800; // where the reader has asked for little motion: ten steps

/** Adds the button; returns what takes it away. */
export function playerOf(panel: Element, control: Control): () => void {
  const name = String(control.get("description"));
  const labels = [...panel.querySelectorAll(".nv-controls .widget-label")];
  const label = labels.find((one) => one.textContent.trim() === name);
  if (!label) return () => {};

  const button = document.createElement("button");
  button.type = "button";
  button.className = "nv-play";
  button.ariaLabel = button.title = `play ${name}`;
  button.style.cssText = LOOK;
  label.parentElement!.append(button);
  let timer = 0;

  function show() {
    button.textContent = timer ? "❚❚" : "▶";
    button.disabled = control.get("disabled");
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    show();
  }

  function put(value: number) {
    control.set("value", value);
    control.save_changes();
  }

  /** A step, once Python has answered the last one. */
  function next() {
    const at = Number(control.get("value"));
    const most = control.get("max");
    const isGone = panel.querySelector(".nv-gone") !== null;
    if (at >= most || control.get("disabled") || isGone) return stop();
    const isBusy = panel.querySelector(".nv-busy") !== null;
    if (!isBusy) put(Math.min(most, to6(at + stepOf(control))));
    timer = window.setTimeout(next, isStill() ? STILL_EVERY : STEP_EVERY);
  }

  button.addEventListener("click", () => {
    if (timer) return stop();
    if (Number(control.get("value")) >= control.get("max")) put(control.get("min"));
    timer = window.setTimeout(next);
    show();
  });
  control.on("change:disabled", show);
  show();
  return () => {
    stop();
    control.off("change:disabled", show);
    button.remove();
  };
}

function stepOf(control: Control): number {
  const step = control.get("step");
  if (!isStill()) return step;
  const steps = (control.get("max") - control.get("min")) / step;
  return Math.max(1, Math.round(steps / 10)) * step;
}

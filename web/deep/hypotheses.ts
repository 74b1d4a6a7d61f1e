/**
 * Where the formula stops: a map of networks, each measured, and the angles between the tokens of
 * the one that is chosen. A click on a cell moves the controls to its network.
 */
import { Controls } from "../kit/controls";
import { eachFrame } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import css from "./hypotheses.css";
import { anglesView } from "./hypotheses_angles";
import { cellAt, isOfMap, sentenceOf } from "./hypotheses_cells";
import type { Cell, HypothesesFacts, HypothesesPlace } from "./hypotheses_facts";
import { mapView } from "./hypotheses_map";

function make(host: HTMLElement, talk: Talk): Scene<HypothesesFacts, HypothesesPlace> {
  let message: Message<HypothesesFacts, HypothesesPlace>;
  let pointed: Cell | null = null;
  let isTouched = false;

  const controls = new Controls<HypothesesPlace>(talk, () => frame.soon());
  const frame = eachFrame(paint);
  const map = mapView(host, {
    chosen({ column, row }) {
      const { columns, rows } = message.facts.map;
      isTouched = true;
      controls.go({ [columns.control]: column, [rows.control]: row }, "leapt");
      say();
    },
    pointed(cell) {
      pointed = cell;
      say();
    },
  });
  const angles = anglesView(host);
  const footer = host.appendChild(document.createElement("p"));
  footer.className = "nv-footer";
  const says = footer.appendChild(document.createElement("span"));
  const note = footer.appendChild(document.createElement("span"));
  note.className = "nv-hint";

  function paint() {
    const { map: facts } = message.facts;
    map.choose(cellAt(controls.here, facts));
    host.classList.toggle("another", !isOfMap(facts, message.place, controls.here));
    say();
  }

  function say() {
    const { map: facts } = message.facts;
    const cell = pointed ?? cellAt(controls.here, facts);
    says.textContent = sentenceOf(cell, facts);
    const hint = isTouched ? "" : "choose a cell: the controls go to its network";
    stand(host, note, controls.isExact, talk.isAlone ?? false, hint);
  }

  return {
    show(next) {
      const isNew = !message;
      message = next;
      const { facts, look } = next;
      pointed = null;
      map.draw(facts.map, look);
      controls.take(next, isNew);
      paint();
      angles.draw(facts.angles, look);
    },
    close() {
      controls.close();
      frame.stop();
    },
  };
}

export const hypotheses = { make, style: css };

/**
 * Put the formula to the test: a map of networks, each measured, and the angles between the tokens
 * of the one that is chosen. A click on a cell moves the controls to its network, and plays its
 * film in the place of the angles; another click stops it, or plays it again.
 */
import { Controls } from "../kit/controls";
import { eachFrame } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import css from "./hypotheses.css";
import { anglesView } from "./hypotheses_angles";
import { cellAt, isOfMap, sentenceOf } from "./hypotheses_cells";
import type { Cell, HypothesesFacts, HypothesesPlace } from "./hypotheses_facts";
import { filmView } from "./hypotheses_film";
import { mapView } from "./hypotheses_map";

function make(host: HTMLElement, talk: Talk): Scene<HypothesesFacts, HypothesesPlace> {
  let message: Message<HypothesesFacts, HypothesesPlace>;
  let pointed: Cell | null = null;
  let isTouched = false;
  /** The place whose film the reader has asked for, and the one whose film is there. */
  let asked = "";
  let played = "";

  const controls = new Controls<HypothesesPlace>(talk, () => frame.soon());
  const frame = eachFrame(host, paint);
  const map = mapView(host, {
    chosen({ column, row }) {
      const { columns, rows } = message.facts.map;
      isTouched = true;
      controls.go({ [columns.control]: column, [rows.control]: row }, "leapt");
      const place = JSON.stringify(controls.here);
      if (place === played) film.toggle();
      else film.stop();
      asked = place;
      playAsked();
      say();
    },
    pointed(cell) {
      pointed = cell;
      say();
    },
  });
  const angles = anglesView(host);
  const film = filmView(host);
  const footer = host.appendChild(document.createElement("p"));
  footer.className = "nv-footer";
  const says = footer.appendChild(document.createElement("span"));
  says.className = "nv-answer";
  for (const view of ["map", "angles"]) {
    host.querySelector(`.nv-view-${view} h4`)!.classList.add("nv-answer");
  }
  const note = footer.appendChild(document.createElement("span"));
  note.className = "nv-hint";

  /** Once Python has said what is in the film. */
  function playAsked() {
    if (!controls.isExact || asked === played) return;
    played = asked;
    host.classList.add("plays");
    film.draw(message.facts.film, message.look);
    film.begin();
  }

  /** Another network, which nobody has asked to play: the angles come back. */
  function leaveFilm() {
    if (!asked || asked === JSON.stringify(controls.here)) return;
    asked = played = "";
    film.stop();
    host.classList.remove("plays");
    angles.draw(message.facts.angles, message.look);
  }

  function paint() {
    const { map: facts } = message.facts;
    leaveFilm();
    map.choose(cellAt(controls.here, facts));
    host.classList.toggle("another", !isOfMap(facts, message.place, controls.here));
    say();
  }

  function say() {
    const { map: facts } = message.facts;
    const cell = pointed ?? cellAt(controls.here, facts);
    says.textContent = sentenceOf(cell, facts);
    const isMissing = controls.isAlone && asked && !controls.isExact;
    const first = isTouched ? "" : "choose a cell: its network plays";
    const hint = isMissing ? "the film of this cell needs Live" : first;
    stand(host, note, controls, hint);
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
      if (asked) {
        if (asked === played && controls.isExact) film.draw(facts.film, look);
        playAsked();
      }
      if (!host.classList.contains("plays")) angles.draw(facts.angles, look);
    },
    close() {
      controls.close();
      film.stop();
      frame.stop();
    },
  };
}

export const hypotheses = { make, style: css };

/**
 * The experiments of Theorem A: two tokens run down the layers and meet. Drag a token or the dot
 * (μ, ν) of a layer, press a layer to freeze it.
 */
import { Controls, type Way } from "../kit/controls";
import { areOther } from "../kit/facts";
import { Followed } from "../kit/followed";
import { eachFrame, player } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { footerIn, number } from "../kit/view";
import css from "./immersion.css";
import type { ImmersionFacts, ImmersionPlace } from "./immersion_facts";
import { hiddenView } from "./immersion_hidden";
import { askedModes, modesOf, runOf, setFree, setMode } from "./immersion_layers";
import { tokensView, type Now } from "./immersion_tokens";
import tokensCss from "./token_paths.css";
import { isFar, type Run } from "./two_tokens";

const SECONDS = 1.2; // for a layer, while tokens run
const HINT = "drag a token, at the start or below, or a dot; press a layer to freeze it";
const ALWAYS = "columns of S sum to 1: tokens stay on their line";

function make(host: HTMLElement, talk: Talk): Scene<ImmersionFacts, ImmersionPlace> {
  let message: Message<ImmersionFacts, ImmersionPlace>;
  let running: number | null = null; // layers that the tokens have run through
  let drawnFor = "";
  let isTouched = false;
  let told = ""; // of the layer that the tokens have run through last

  const controls = new Controls<ImmersionPlace>(talk, follow);
  const frame = eachFrame(host, paint);
  const shown = new Followed<Run>(() => frame.soon());
  const formulas = () => message.facts.formulas;
  const tokens = tokensView(host, {
    begin() {
      touch();
      controls.hold();
    },
    end: () => controls.release(),
    here: () => runOf(formulas(), controls.here),
    range: () => controls.range("input_1"), // all shares have the same
    start(token, place) {
      touch();
      controls.go({ [`input_${token}`]: place });
    },
    free(layer, shares) {
      touch();
      controls.go(setFree(formulas(), controls.here, layer, shares));
    },
    freeze(layer) {
      touch();
      const isFrozen = modesOf(formulas(), controls.here)[layer - 1] === "frozen";
      const mode = isFrozen ? "true" : "frozen";
      controls.go(setMode(formulas(), controls.here, layer, mode), "leapt");
    },
  });

  const { footer, note } = footerIn(host);
  const play = player(footer, {
    name: "run down the layers",
    get seconds() {
      return SECONDS * formulas().forms.length;
    },
    from: () => 0,
    // Where the tokens leave a layer.
    moments() {
      const layers = formulas().forms.length;
      return Array.from({ length: layers - 1 }, (_, k) => (k + 1) / layers);
    },
    to(share) {
      const layers = formulas().forms.length;
      running = share < 1 ? share * layers : null;
      // While it holds where two layers meet, the words are of the one that it has run through.
      const layer = Math.ceil(share * layers - 1e-9) - 1;
      told = wordsOf(shown.seen!, Math.max(0, layer));
      frame.soon();
    },
  });
  const hidden = hiddenView(host);

  /** Who takes hold of something knows what to do, and runs no longer. */
  function touch() {
    isTouched = true;
    running = null;
    told = "";
    play.stop();
    frame.soon();
  }

  /** What is done to the layers, where the picture is. */
  function now(): Now {
    return {
      run: shown.seen!,
      asked: askedModes(formulas(), controls.here),
      modes: modesOf(formulas(), controls.here),
      running,
    };
  }

  /** What leaps is followed on its way. */
  function follow(place: ImmersionPlace, way: Way) {
    const next = runOf(formulas(), place);
    told = ""; // it was of another run
    if (way === "leapt" && shown.seen && isFar([shown.seen], [next])) shown.leap(next);
    else shown.put(next);
  }

  function paint() {
    if (!shown.seen) return;
    tokens.move(now());
    const hint = told || (isTouched ? ALWAYS : HINT);
    stand(host, note, controls, hint);
  }

  return {
    show(next, width) {
      const isNew = areOther(next.facts.formulas, message?.facts.formulas);
      message = next;
      const { facts, look } = next;
      const layers = facts.formulas.forms.length;
      host.style.setProperty("--layers", String(layers));
      host.style.setProperty("--columns", String(facts.hidden.columns.length));
      if (isNew) {
        if (shown.seen?.shares.length !== layers) shown.seen = null;
        running = null;
        told = "";
        play.stop();
        tokens.build(facts.formulas);
      }
      controls.take(next, isNew);

      const looks = JSON.stringify([width, look, facts]);
      if (isNew || looks !== drawnFor) {
        tokens.draw(facts.tokens, look);
        hidden.draw(facts.hidden, look);
      }
      drawnFor = looks;
      frame.soon();
    },
    close() {
      controls.close();
      shown.stop();
      play.stop();
      frame.stop();
    },
  };
}

/** What a layer, counted from 0, does to the way from x₁ to x₂. */
function wordsOf({ places }: Run, layer: number): string {
  const [before, after] = [layer, layer + 1].map((n) => number(places[n][1] - places[n][0]));
  return `layer ${layer + 1}: from x₁ to x₂ it was ${before}, and is ${after} after it`;
}

export const immersion = { make, style: tokensCss + css };

/**
 * The ledger: a network as its weights, whose edges one drags, and beside it what its parameters
 * come to. Each ▶ moves the weights along a symmetry, and the output stands still.
 */
import { interpolate } from "d3-interpolate";
import { outputOf, type Layer } from "../kit/attention";
import { Controls } from "../kit/controls";
import { largestChange, type Matrix } from "../kit/matrix";
import { eachFrame, tween } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { footerIn } from "../kit/view";
import css from "./ledger.css";
import type { LedgerFacts, LedgerPlace } from "./ledger_facts";
import { layersView } from "./ledger_layers";
import { controlsFor, countsOf, networkAt, type Counts, type Network } from "./ledger_network";
import { outputView } from "./ledger_output";
import type { Fit } from "./ledger_places";
import { rowsView } from "./ledger_rows";
import { matricesOf, movedBy, swing, weightsOf, type Motion } from "./ledger_weights";
import { numbersOf, rowsOf, type Numbers } from "./ledger_words";

/** Parameters that fill the width of the bars. */
const FULL = [25, 100, 250, 600, 1300, 2600, 5000];
const NARROW = 43; // sizes of a title: in a narrower place views stand one below the other, too
// Milliseconds.
const FALL = 800; // at first all falls;
const TURN = 200; // then what changes goes there

/** The numbers that the picture is drawn from. */
interface Shown {
  fit: Fit;
  numbers: Numbers;
  full: number;
}

/** A network, with weights and an input of its own, and its output. */
interface Subject {
  net: Network;
  counts: Counts;
  layers: Layer[];
  X: Matrix;
  output: Matrix;
}

function make(host: HTMLElement, talk: Talk): Scene<LedgerFacts, LedgerPlace> {
  let message: Message<LedgerFacts, LedgerPlace>;
  let subject: Subject | null = null;
  let shown: Shown | null = null;
  let motion: { name: Motion; share: number } | null = null;
  let isTouched = false;
  /** Whether network and output are as they were drawn last: while only the bars fall. */
  let isUpToDate = false;
  let drawnFor = "";
  let stopTween = () => {};

  const controls = new Controls<LedgerPlace>(talk, follow);
  const frame = eachFrame(host, paint);
  const layers = layersView(host, {
    go,
    begin() {
      rows.stop();
      motion = null;
      controls.hold();
    },
    end() {
      controls.release();
      turn(TURN);
    },
  });
  const output = outputView(host);
  const rows = rowsView(host, {
    from(name) {
      isTouched = true;
      if (motion?.name === name && motion.share < 0.99) return motion.share;
      output.forget();
      return 0;
    },
    walk(name, share) {
      motion = share < 1 ? { name, share } : null;
      again();
    },
  });
  const { note } = footerIn(host);

  /** In the next frame the network and its output are drawn, too. */
  function again() {
    isUpToDate = false;
    frame.soon();
  }

  function go(next: Network) {
    isTouched = true;
    // Python hears the controls one by one, and refuses head dimensions that are not as many as
    // the layers: typed ones go first.
    const isOther = next.headDims.length !== subject!.net.headDims.length;
    if (isOther && controls.here.head_dims) controls.go({ head_dims: "" });
    controls.go(controlsFor(next));
  }

  function follow(place: LedgerPlace) {
    const net = networkAt(place, message.facts.limits);
    if (net && JSON.stringify(net) !== JSON.stringify(subject?.net)) {
      const weights = weightsOf(net);
      const start = outputOf(weights.layers, weights.X, net.kind);
      output.forget();
      subject = { net, counts: countsOf(net), ...weights, output: start };
      if (shown) turn(TURN);
    }
    again();
  }

  /** Python's facts, where they are about the network that is shown. */
  const exactly = () => (controls.isExact ? message.facts : null);

  /** Goes to where the numbers are now; at first the bars fall from all parameters. */
  function turn(milliseconds: number) {
    const { net, counts } = subject!;
    stopTween();
    const fit = layers.take(net, message.facts.limits);
    const numbers = numbersOf(counts, exactly());
    const full = FULL.find((most) => most >= numbers.parameters) ?? numbers.parameters;
    const next: Shown = { fit, numbers, full };
    const nothing = { ...numbers, costs: [0, 0, 0, 0], dimension: numbers.parameters };
    const between = interpolate(shown ?? { ...next, numbers: nothing }, next);
    const isFall = shown === null;
    stopTween = tween((share) => {
      shown = share === 1 ? next : between(share);
      if (isFall) frame.soon();
      else again();
    }, milliseconds);
  }

  function paint() {
    if (!subject || !shown) return;
    const { net, counts, X } = subject;
    const facts = exactly();
    const s = motion ? swing(motion.share) : 0;
    const moved = motion && s ? movedBy(subject.layers, motion.name, s) : subject.layers;
    const now = s ? outputOf(moved, X, net.kind) : subject.output;
    const far = s ? largestChange(matricesOf(subject.layers), matricesOf(moved)) : 0;
    headlines();
    if (!isUpToDate) {
      layers.move(shown.fit, moved);
      output.move(now, subject.output, far, motion === null);
      isUpToDate = true;
    }
    rows.say(rowsOf(net, counts, facts), facts !== null, net.headDims.length === 1);
    rows.move(shown.numbers, shown.full, facts ? facts.formula !== null : true);
    const hint = "drag an orange edge · press ▶: the weights move, does the output?";
    stand(host, note, controls, isTouched ? "" : hint);
  }

  function headlines() {
    const { net, counts } = subject!;
    const count = net.headDims.length;
    const what = `${counts.parameters} parameters in ${count} layer${count > 1 ? "s" : ""}`;
    layers.headline([{ text: `${what}: drag an edge` }], false);
    rows.headline(message.facts.says, true);
  }

  return {
    show(next, width) {
      const isFirst = !message;
      message = next;
      controls.take(next, isFirst);
      if (!subject) return; // the controls say no network
      const { facts, look } = next;
      headlines();
      const looks = JSON.stringify([width, look]);
      const isOther = looks !== drawnFor;
      drawnFor = looks;
      if (width < NARROW * look.sizes.title) host.classList.add("narrow");
      rows.draw(facts, look);
      if (isOther) {
        layers.draw(look);
        output.draw();
      }
      if (isOther || controls.isExact) turn(isFirst ? FALL : TURN);
      again();
    },
    close() {
      controls.close();
      stopTween();
      rows.stop();
      frame.stop();
    },
  };
}

export const ledger = { make, style: css };

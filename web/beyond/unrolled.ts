/**
 * The unrolled network: pick a factor or drag along them, see which tokens it joins, and drag a
 * part of the term over.
 */
import { Controls } from "../kit/controls";
import { eachFrame, tween } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import css from "./unrolled.css";
import type { UnrolledFacts, UnrolledPlace } from "./unrolled_facts";
import { leavesOf } from "./unrolled_places";
import { factorsOf, shownAt, type Shown } from "./unrolled_term";
import { termView } from "./unrolled_term_view";
import { treeView } from "./unrolled_tree_view";
import { linkOf } from "./unrolled_words";

const HINT = "press a factor or drag along them; drag the ring down: the term is turned round";

function make(host: HTMLElement, talk: Talk): Scene<UnrolledFacts, UnrolledPlace> {
  let message: Message<UnrolledFacts, UnrolledPlace>;
  let shown: Shown | null = null;
  let turn: number | null = null; // how far the window is turned round, from 0 to 1
  let isTurnedByHand = false;
  let drawnFor = "";
  let isTouched = false;
  let stopTween = () => {};

  const controls = new Controls<UnrolledPlace>(talk, follow);
  const frame = eachFrame(paint);
  const tree = treeView(host, (place) => {
    isTouched = true;
    pick(place);
  });
  const term = termView(host, {
    begin: hold,
    end: () => controls.release(),
    picked: pick,
    stepped(by) {
      isTouched = true;
      pick(controls.here.place + by);
    },
    turned(share) {
      isTurnedByHand = true;
      turn = share;
      frame.soon();
    },
    letGo() {
      controls.release();
      if (!isTurnedByHand) return;
      isTurnedByHand = false;
      controls.go({ reflect: turn! > 0.5 });
      turnTo(Number(controls.here.reflect));
    },
    reflected(isTurned) {
      isTouched = true;
      controls.go({ reflect: isTurned });
    },
  });

  const footer = host.appendChild(document.createElement("div"));
  footer.className = "nv-footer";
  const note = footer.appendChild(document.createElement("span"));
  note.className = "nv-hint";
  const joins = footer.appendChild(document.createElement("span"));
  joins.className = "nv-joins nv-answer role-focus";

  function hold() {
    isTouched = true;
    stopTween();
    controls.hold();
  }

  function pick(place: number) {
    const { isOfTwo, layers } = message.facts.formulas;
    if (isOfTwo) return;
    const most = factorsOf(layers).length;
    controls.go({ place: Math.max(1, Math.min(most, place)) });
  }

  /** What is turned round goes over to the other side, and back. */
  function follow(place: UnrolledPlace) {
    const { formulas } = message.facts;
    // A place of more layers comes before their facts do.
    if (place.place > factorsOf(formulas.layers).length) return;
    shown = shownAt(formulas, place);
    turn ??= Number(place.reflect);
    if (!isTurnedByHand) turnTo(formulas.isOfTwo ? 0 : Number(place.reflect));
    frame.soon();
  }

  function turnTo(to: number) {
    const from = turn!;
    stopTween();
    if (from === to) return;
    stopTween = tween((share) => {
      turn = from + share * (to - from);
      frame.soon();
    });
  }

  /** What does not move. */
  function draw() {
    const { facts, look } = message;
    const { formulas } = facts;
    const looks = () => JSON.stringify([tree.size(), look, facts.tree, facts.term, formulas]);
    if (looks() === drawnFor) return;
    const { layers } = formulas;
    tree.headline(facts.tree.says, false);
    const [room] = tree.measured();
    const leaves = leavesOf(layers, room, look, host.classList.contains("narrow"));
    const barsEnd = term.begin(facts, leaves, look);
    // The wash of the tree goes on behind the factors, which have an SVG of their own.
    const [upper, lower] = [...host.querySelectorAll(".nv-box")].map(
      (box) => box.getBoundingClientRect().top,
    );
    tree.draw(facts, leaves, look, lower - upper + barsEnd);
    term.draw(factorsOf(layers).length);
    drawnFor = looks();
  }

  function paint() {
    if (!message || !shown) return;
    const { formulas } = message.facts;
    draw();
    tree.move(shown.focus);
    term.move(shown, controls.here, turn!);
    const link = linkOf(shown, formulas);
    const strong = document.createElement("strong");
    strong.textContent = link.link;
    joins.replaceChildren(link.joins, strong);
    const hint = isTouched || formulas.isOfTwo ? "" : HINT;
    stand(host, note, controls.isExact, talk.isAlone ?? false, hint);
  }

  return {
    show(next) {
      const isNew = message?.facts.formulas !== next.facts.formulas;
      message = next;
      if (isNew) shown = null;
      controls.take(next, isNew);
      frame.soon();
    },
    close() {
      controls.close();
      stopTween();
      frame.stop();
    },
  };
}

export const unrolled = { make, style: css };

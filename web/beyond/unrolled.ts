/**
 * The unrolled network: pick a factor or drag along them, see which tokens it joins, and drag a
 * part of the term over.
 */
import { Controls } from "../kit/controls";
import { areOther } from "../kit/facts";
import { eachFrame, player, tween } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { footerIn } from "../kit/view";
import css from "./unrolled.css";
import type { UnrolledFacts, UnrolledPlace } from "./unrolled_facts";
import { leavesOf } from "./unrolled_places";
import { momentsOf, storyAt } from "./unrolled_story";
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
  let isPlayed = false; // ▶ moves the controls just now
  let drawnFor = "";
  let isTouched = false;
  let stopTween = () => {};

  const controls = new Controls<UnrolledPlace>(talk, follow);
  const frame = eachFrame(host, paint);
  const tree = treeView(host, (place) => {
    touch();
    pick(place);
  });
  const term = termView(host, {
    begin: hold,
    end() {
      controls.release();
      settle();
    },
    picked: pick,
    stepped(by) {
      touch();
      pick(controls.here.place + by);
    },
    turned(share) {
      isTurnedByHand = true;
      turn = share;
      frame.soon();
    },
    letGo() {
      controls.release();
      if (!isTurnedByHand) return settle();
      isTurnedByHand = false;
      controls.go({ reflect: turn! > 0.5 });
      turnTo(Number(controls.here.reflect));
    },
    reflected(isTurned) {
      touch();
      controls.go({ reflect: isTurned });
    },
  });

  const { footer, note } = footerIn(host);
  const joins = footer.appendChild(document.createElement("span"));
  joins.className = "nv-joins nv-answer role-focus";
  let played = 0; // the share of ▶ that has passed
  const play = player(footer, {
    name: "go along the factors, and turn the window round",
    seconds: 14,
    from: () => (played < 1 && isWherePlayed() ? played : 0),
    to(share) {
      isTouched = true;
      played = share;
      const scene = storyAt(layersNow(), share);
      stopTween();
      turn = scene.turn;
      isPlayed = true;
      controls.go({ place: scene.place, reflect: scene.turn === 1 });
      isPlayed = false;
      frame.soon();
    },
    moments: () => momentsOf(layersNow()),
  });

  const layersNow = () => message.facts.formulas.layers;

  /** Whether nothing has moved since ▶ was stopped. */
  function isWherePlayed(): boolean {
    const scene = storyAt(layersNow(), played);
    return controls.here.place === scene.place && turn === scene.turn;
  }

  /** Who takes hold of something knows what to do. */
  function touch() {
    isTouched = true;
    play.stop();
    settle();
  }

  /** Turns the window to where the control says; a term of two tokens has none. */
  function settle() {
    turnTo(message.facts.formulas.isOfTwo ? 0 : Number(controls.here.reflect));
  }

  function hold() {
    isTouched = true;
    play.stop();
    stopTween();
    controls.hold();
  }

  function pick(place: number) {
    const { isOfTwo, layers } = message.facts.formulas;
    if (isOfTwo) return;
    const most = factorsOf(layers).length;
    controls.go({ place: Math.max(1, Math.min(most, place)) });
  }

  /** Shows the term at another place; the window turns, unless a hand or ▶ turns it. */
  function follow(place: UnrolledPlace) {
    const { formulas } = message.facts;
    // A place of more layers comes before their facts do.
    if (place.place > factorsOf(formulas.layers).length) return;
    shown = shownAt(formulas, place);
    turn ??= Number(place.reflect);
    const isMoving = isTurnedByHand || isPlayed;
    if (!isMoving) settle();
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
    // Asked again at the end: `term.begin` gives the tree another size.
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
    const link = linkOf(shown, formulas, turn! > 0.5);
    const strong = document.createElement("strong");
    strong.textContent = link.link;
    joins.replaceChildren(link.joins, strong);
    const hint = isTouched || formulas.isOfTwo ? "" : HINT;
    stand(host, note, controls, hint);
  }

  return {
    show(next) {
      const isNew = areOther(next.facts.formulas, message?.facts.formulas);
      message = next;
      if (isNew) {
        shown = null;
        play.stop();
        played = 0;
      }
      play.show(!next.facts.formulas.isOfTwo);
      controls.take(next, isNew);
      frame.soon();
    },
    close() {
      controls.close();
      stopTween();
      play.stop();
      frame.stop();
    },
  };
}

export const unrolled = { make, style: css };

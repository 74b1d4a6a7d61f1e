/**
 * The surface that learns: forty layers follow their gradient to a target that one takes hold of,
 * each drawn at its twin in the slice. Three moves ask first.
 */
import { Controls } from "../kit/controls";
import { eachFrame, player } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { distance } from "../kit/solids";
import { footerIn, number } from "../kit/view";
import css from "./learning.css";
import { Course, type Ends } from "./learning_course";
import type { LearningFacts, LearningPlace } from "./learning_facts";
import { button, sideView } from "./learning_side";
import { spaceView } from "./learning_space";
import { Trial, TRIED } from "./learning_trial";
import { kindOf, tripleOf } from "./learning_twin";

const SECONDS = 6; // of ▶, without the time for which it holds
const PACE = 6; // of the layers' time in a second while the target is held
const LONGEST = 0.1; // seconds: what a page that was hidden catches up with

function make(host: HTMLElement, talk: Talk): Scene<LearningFacts, LearningPlace> {
  let facts: LearningFacts;
  let course: Course;
  let trial: Trial;

  let place: LearningPlace;
  let move: number | null = null; // that asks for this target
  const guesses: number[] = []; // of each move
  const answered = new Set<number>();
  let isHeld = false;
  let driftedAt = 0; // when the layers' time passed last while the target was held, in milliseconds
  let seed = 1;

  const controls = new Controls<LearningPlace>(talk, (next) => {
    place = next;
    aim();
    if (!isHeld) begin();
  });
  const frame = eachFrame(host, paint);
  const space = spaceView(host, {
    changed: () => frame.soon(),
    here: () => place,
    begin() {
      play.stop();
      controls.hold();
      isHeld = true;
      driftedAt = performance.now();
      frame.soon();
    },
    moved: (found) => controls.go(found),
    end() {
      isHeld = false;
      controls.release();
      begin(); // those that were pulled along may stand where none would rest
      if (!isAsking()) play.start();
    },
    keyed() {
      if (!isAsking()) play.start();
    },
  });

  const { footer, note } = footerIn(host);
  const many = footer.appendChild(button(`${TRIED} random targets`, tryMany));
  const play = player(footer, {
    name: "let 40 new layers learn",
    seconds: SECONDS,
    from() {
      if (course.isOver || course.time === 0) renew();
      return course.share;
    },
    to(share) {
      course.learn(share);
      frame.soon();
      return course.isOver;
    },
    moments: () => course.moments,
  });
  const side = sideView(host, { goTo, guess });

  /** The target is elsewhere: the nearest layer is known at once, the forty have to learn it. */
  function aim() {
    course.aim(place);
    const here = tripleOf(place);
    const index = facts.moves.findIndex(({ target }) => distance(tripleOf(target), here) < 1e-6);
    move = index < 0 ? null : index;
    side.answer("");
    frame.soon();
  }

  /** New layers, which stand until ▶ or a guess. */
  function begin() {
    play.stop();
    renew();
  }

  /** New layers with random weights. */
  function renew() {
    course.restart(seed++);
    space.forget();
    side.answer("");
    side.ask(facts, move, isAsking());
    play.show(!isAsking());
    frame.soon();
  }

  const isAsking = () => move !== null && guesses[move] === undefined;

  function goTo(index: number) {
    trial.stop();
    controls.go(facts.moves[index].target);
    begin();
    side.focusChoices();
  }

  function guess(index: number) {
    guesses[move!] = index;
    begin();
    footer.querySelector<HTMLElement>(".nv-play")!.focus({ preventScroll: true });
    play.start();
  }

  function paint() {
    if (!facts) return;
    if (isHeld) drift();
    const standings = course.standings();
    const ends = course.endsOf(standings);
    space.moveLayers(standings);
    side.chart.move(standings, course.rests[0].distance);
    if (course.isOver && !isHeld) finish(ends);
    tryOne();
    // The nearest layer is known at once, and shown only when it gives no answer away.
    const isSecret = move !== null && !answered.has(move);
    host.classList.toggle("is-asking", isSecret);
    const says = `${whereOf(place)}: ${facts.kinds[kindOf(place)]}`;
    space.moveTarget(course, ends.singular, says, controls.range("s"));
    side.chart.headline([saidOf(course, ends)], false);
    many.style.display = space.hasCoin() ? "" : "none";
    const missing = "No 3-D picture: this browser has no WebGL.";
    const hint = space.isThere() ? `target ${says}` : missing;
    stand(host, note, controls, hint);
    note.textContent = hint; // the page itself knows it, wherever the target is
  }

  /** Time passes as it does for the reader, however many frames there are. */
  function drift() {
    const now = performance.now();
    course.drift(PACE * Math.min(LONGEST, (now - driftedAt) / 1000));
    driftedAt = now;
    frame.soon();
  }

  /** The layers have come to rest: the answer, and with the last one the coin. */
  function finish(ends: Ends) {
    if (side.hasAnswer() || trial.left) return;
    if (move === null) return side.answer(ownWords(ends, course.count));
    answered.add(move);
    const { moves, choices } = facts;
    const { right, says, showsCoin } = moves[move];
    const guessed = guesses[move];
    const mark = guessed === right ? "✓" : "✗";
    side.answer(`${mark} You guessed ${choices[guessed]}. ${says}`);
    if (showsCoin) space.showCoin();
    else side.offer(move + 1);
  }

  function tryMany() {
    trial.more();
    side.answer("");
    frame.soon();
  }

  /** One more random target in a frame. */
  function tryOne() {
    if (!trial.left) return;
    const { index, at, isSingular } = trial.next(seed++, space.placeAt);
    space.mark(index, at, isSingular);
    side.answer(trial.words);
    frame.soon();
  }

  function open(said: LearningFacts) {
    facts = said;
    course = new Course(facts.flow);
    trial = new Trial(facts.flow);
    space.open(facts);
    side.open(facts.moves);
  }

  return {
    show(message: Message<LearningFacts, LearningPlace>) {
      const isFirst = !facts;
      if (isFirst) open(message.facts);
      controls.take(message, isFirst);
      space.draw(message.look); // its words take room from its box: all are measured after them
      side.chart.draw(facts.flow);
      frame.soon();
    },
    close() {
      controls.close();
      play.stop();
      frame.stop();
      space.close();
    },
  };
}

const whereOf = ({ s, y, z }: LearningPlace) =>
  `s = ${number(s)}, y = ${number(y)}, z = ${number(z)}`;

/** How far all layers have come; before they start, it is only a name. */
function saidOf({ time, count }: Course, { singular }: Ends) {
  if (!time) return { text: `${count} layers with random weights`, name: true };
  const digits = time < 10 ? 1 : 0;
  return { text: `time ${time.toFixed(digits)}: ${singular} of ${count} singular`, name: false };
}

/** A flow rests in a valley: at the nearest layer, or where else the distance is least nearby. */
function ownWords({ singular, near, second }: Ends, count: number): string {
  const others = count - near - second;
  const parts = [
    `${singular || "None"} of ${count} singular`,
    near === count ? "all at the nearest layer" : `${near} at the nearest layer`,
    second ? `${second} in a second valley (small ring)` : "",
    others ? `${others} still on their way` : "",
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

export const learning = { make, style: css };

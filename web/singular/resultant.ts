/** Two forms by their roots on a circle: drag a root, and the product of four chords follows. */
import { scaleLinear } from "d3-scale";
import { Controls } from "../kit/controls";
import { handle } from "../kit/handle";
import { eachFrame, player } from "../kit/motion";
import { withMinus } from "../kit/numbers";
import { stand } from "../kit/painter";
import type { Message, Point, Scene, Talk } from "../kit/picture";
import { footerIn, number, textLines, viewIn } from "../kit/view";
import css from "./resultant.css";
import type { ResultantFacts, ResultantPlace } from "./resultant_facts";
import { chordsOf, onCircle, resultantOf, rootAt, type Chord } from "./resultant_roots";

const KEY = ["roots [X:Y] on a circle: q₁ ●—, q₂ □- -"];
const ROOTS = [
  { name: "first", says: "one root of q₁", form: 1 },
  { name: "second", says: "the other root of q₁", form: 1 },
  { name: "third", says: "one root of q₂", form: 2 },
  { name: "fourth", says: "the other root of q₂", form: 2 },
] as const;
const SOFT = { role: "soft" } as const;
const TURN = 180; // degrees of θ that lead round the circle

function make(host: HTMLElement, talk: Talk): Scene<ResultantFacts, ResultantPlace> {
  let message: Message<ResultantFacts, ResultantPlace>;
  let isTouched = false;
  let begun = 0; // where the root stood when it was sent round

  const frame = eachFrame(host, paint);
  const controls = new Controls<ResultantPlace>(talk, () => frame.soon());

  const circle = viewIn(host, "circle");
  const x = scaleLinear().domain([-1, 1]);
  const y = scaleLinear().domain([-1, 1]);
  const seen = (angle: number): Point => {
    const [a, b] = onCircle(angle);
    return [x(a), y(b)];
  };
  const key = circle.svg.append("g");
  const rim = circle.svg.append("circle").attr("class", "rim");
  const between = circle.svg.append("g").attr("class", "between");
  const forms = [1, 2].map((k) => circle.svg.append("line").attr("class", `form-${k}`));
  const meeting = circle.svg.append("g").attr("class", "meeting");
  const marks = ROOTS.map(({ form }) => circle.svg.append("rect").attr("class", `form-${form}`));
  const handles = ROOTS.map(({ name, says }) =>
    handle(circle.svg.append("g"), {
      name: says,
      begin: hold,
      end: () => controls.release(),
      moved: ([px, py]) => controls.go({ [name]: rootAt([x.invert(px), y.invert(py)]) }),
      keyed(right, up) {
        touch();
        const angle = controls.here[name] + (right || up);
        controls.go({ [name]: ((angle % TURN) + TURN) % TURN });
      },
      ended(isLargest) {
        touch();
        controls.go({ [name]: isLargest ? TURN - 1 : 0 });
      },
    }),
  );

  const product = viewIn(host, "product");
  const bars = product.svg.append("g");

  const { footer, note } = footerIn(host);
  const play = player(footer, {
    name: "a root of q₂ goes once round the circle",
    seconds: 7,
    from() {
      begun = controls.here.third;
      return 0;
    },
    to: (share) => controls.go({ third: (begun + Math.round(share * TURN)) % TURN }),
    // Where it meets a root of q₁.
    moments() {
      const { first, second } = controls.here;
      return [first, second].map((root) => ((root - begun + TURN) % TURN) / TURN);
    },
  });

  /** Who moves something by hand knows what to do, and the walk would move it back. */
  function touch() {
    isTouched = true;
    play.stop();
  }

  function hold() {
    touch();
    controls.hold();
  }

  function paint() {
    if (!message) return;
    const { here } = controls;
    const side = 1.6 * message.look.sizes.marker;
    const chords = chordsOf(here);
    const value = resultantOf(here);

    between
      .selectAll("line")
      .data(chords)
      .join("line")
      .attr("x1", ({ from }) => seen(here[from])[0])
      .attr("y1", ({ from }) => seen(here[from])[1])
      .attr("x2", ({ to }) => seen(here[to])[0])
      .attr("y2", ({ to }) => seen(here[to])[1]);
    ROOTS.forEach(({ name, form }, n) => {
      const [cx, cy] = seen(here[name]);
      marks[n]
        .attr("x", cx - side / 2)
        .attr("y", cy - side / 2)
        .attr("width", side)
        .attr("height", side)
        .attr("rx", form === 1 ? side / 2 : 0);
      const words = `${here[name]} degrees; R = ${value.toFixed(3)}`;
      handles[n].to([cx, cy], here[name], words, controls.range(name));
    });
    [0, 2].forEach((first, k) => {
      const [a, b] = [ROOTS[first], ROOTS[first + 1]].map(({ name }) => seen(here[name]));
      forms[k].attr("x1", a[0]).attr("y1", a[1]).attr("x2", b[0]).attr("y2", b[1]);
    });
    const common = chords.filter(({ factor }) => Math.abs(factor) < 1e-9);
    meeting
      .selectAll("circle")
      .data(common)
      .join("circle")
      .attr("cx", ({ from }) => seen(here[from])[0])
      .attr("cy", ({ from }) => seen(here[from])[1])
      .attr("r", 1.3 * side);
    drawProduct(chords, value);
    const hint = isTouched ? "" : "drag a root round the circle";
    stand(host, note, controls, hint);
  }

  /** A bar for each chord, and one for their product. */
  function drawProduct(chords: Chord[], value: number) {
    const [width, height] = product.size();
    const { note: letter } = message.look.sizes;
    const left = 6 * letter;
    const right = width - 3.6 * letter;
    const row = Math.min(3 * letter, height / 6);
    const long = scaleLinear().domain([0, 1]).range([left, right]);
    bars.selectAll("*").remove();
    chords.forEach(({ factor }, n) => drawBar(n, "half a chord", Math.abs(factor), "chord"));
    bars
      .append("path")
      .attr("class", "rule")
      .attr("d", `M${0} ${4.25 * row}H${width}`);
    drawBar(4.5, "R", value, value === 0 ? "product zero" : "product");
    const says = saysOf(value);
    if (says) textLines(bars, [left, 5.6 * row], [says], SOFT);

    function drawBar(at: number, says: string, size: number, kind: string) {
      const top = at * row + 0.2 * row;
      const middle = top + 0.3 * row;
      const look = { role: "ink", kind: kind === "chord" ? "" : "large bold" } as const;
      textLines(bars, [0, middle], [says], look);
      bars
        .append("rect")
        .attr("class", kind)
        .attr("x", left)
        .attr("y", top)
        .attr("width", Math.max(1, long(Math.abs(size)) - left))
        .attr("height", 0.6 * row);
      const words = kind === "chord" ? number(size) : withMinus(size.toFixed(3));
      textLines(bars, [long(Math.abs(size)) + 6, middle], [words], look);
    }
  }

  return {
    show(next) {
      const isNew = message === undefined;
      message = next;
      const { facts, look } = next;
      circle.headline([{ text: "drag the roots", name: true }], false);
      product.headline(facts.says, true);
      const [width, height] = circle.size();
      const line = 1.2 * look.sizes.note;
      const room = 2 * look.sizes.marker;
      const radius = Math.max(20, Math.min(width / 2, (height - line) / 2) - room);
      x.range([room, room + 2 * radius]);
      y.range([line + room + 2 * radius, line + room]);
      key.selectAll("*").remove();
      textLines(key, [0, 0], KEY, { role: "soft", start: "below" });
      rim.attr("cx", x(0)).attr("cy", y(0)).attr("r", radius);
      for (const one of handles) one.radius(1.5 * look.sizes.marker);
      controls.take(next, isNew);
      frame.soon();
    },
    close() {
      controls.close();
      play.stop();
      frame.stop();
    },
  };
}

/** What is seen on the circle, of a resultant that is negative, or 0. */
function saysOf(value: number): string {
  if (value < 0) return "negative: ● and □ alternate";
  return value === 0 ? "0: a ● and a □ have met" : "";
}

export const resultant = { make, style: css };

/**
 * The plane of y and P with the curve P = e^y and the dot that leaves it; the axis of P rolls up to
 * the ring of residues.
 */
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { handle } from "../kit/handle";
import { withMinus } from "../kit/numbers";
import type { Look, Point, Range } from "../kit/picture";
import { number, textLines, viewIn } from "../kit/view";
import { Axis, LEAST, MOST } from "./new_variable_axis";
import type { NewVariableFacts, NewVariablePlace, Stage } from "./new_variable_facts";
import { residue } from "./new_variable_table";

const WHOLE = [-2, -1, 0, 1, 2, 3, 4];
const SEEN: Range = [-1.42, 1.42, 0.01]; // of y
const NEAR = 9; // pixels: so near to the curve the dot is on it
const ZERO = 4; // pixels: so near to 0, P is 0
const HALF_BENT = 0.5; // from here on the numbers of the axis are residues
const KEY_STEP = 0.05;
const ROOM_FROM = -0.4; // of y: from here on there is room at the left of the dot

/** What is seen now, also on the way between two places. */
export interface Shown {
  y: number;
  P: number;
  /** 0 for the plane, 1 for the ring. */
  bend: number;
}

export interface Hands {
  begin(): void;
  end(): void;
  here(): NewVariablePlace;
  range(name: "y" | "P"): Range;
  go(change: Partial<NewVariablePlace>, isLeap?: boolean): void;
}

export function planeView(host: HTMLElement, hands: Hands) {
  const { svg, size, headline } = viewIn(host, "plane");
  const flat = svg.append("g").attr("class", "flat");
  const zero = flat.append("path").attr("class", "zero");
  const curve = flat.append("path").attr("class", "role-ink curve");
  const rule = flat.append("path").attr("class", "rule");
  const gap = flat.append("path").attr("class", "role-focus gap");
  const names = flat.append("g");
  const own = flat.append("circle").attr("class", "own");
  const tokens = flat.append("g");
  const axis = svg.append("path").attr("class", "axis");
  const ticks = svg.append("g");
  const center = svg.append("g");
  const dot = svg.append("circle").attr("class", "dot");
  const value = svg.append("text").attr("class", "role-focus nv-label value");
  const x = scaleLinear().domain(SEEN.slice(0, 2));
  let frame: Axis;
  let prime = 7;
  let low = 0; // the tokens' line, in pixels
  let ring = 10; // of the token

  const holds = { begin: hands.begin, end: hands.end };
  const token = handle(svg.append("g"), {
    ...holds,
    name: "token x₂",
    moved: ([px]) => hands.go({ y: x.invert(px) }),
    keyed: (right, up) => hands.go({ y: hands.here().y + KEY_STEP * (right || up) }),
    ended: (isLargest) => hands.go({ y: hands.range("y")[isLargest ? 1 : 0] }),
  });
  const point = handle(svg.append("g"), {
    ...holds,
    name: "the dot (y, P)",
    isFlat: true,
    moved: (at) => hands.go(placeAt(at)),
    keyed: (right, up) => hands.go(placeAfterStep(right, up)),
    ended(isLargest) {
      const stage = hands.here().stage === "modulo" ? "modulo" : "free";
      hands.go({ stage, P: hands.range("P")[isLargest ? 1 : 0] });
    },
    pressed() {
      const stage: Record<Stage, Stage> = { curve: "free", free: "curve", modulo: "free" };
      hands.go({ stage: stage[hands.here().stage] }, true);
    },
  });

  function placeAt(at: Point): Partial<NewVariablePlace> {
    if (hands.here().stage === "modulo") return { P: frame.wholeAt(at) };
    const near = nearestOnCurve(at);
    if (near !== null) return { stage: "curve", y: near };
    const isZero = Math.abs(at[1] - frame.straight(0)) < ZERO;
    return { stage: "free", y: x.invert(at[0]), P: isZero ? 0 : frame.valueAt(at[1]) };
  }

  /** The y of the point of the curve that is nearest to a pointer, if it is near. */
  function nearestOnCurve([px, py]: Point): number | null {
    const [least, most, step] = hands.range("y");
    let best: number | null = null;
    let distance = NEAR;
    const count = Math.round((most - least) / step);
    for (let n = 0; n <= count; n++) {
      const y = least + n * step;
      const away = Math.hypot(x(y) - px, frame.straight(Math.exp(y)) - py);
      if (away < distance) [best, distance] = [y, away];
    }
    return best;
  }

  function placeAfterStep(right: number, up: number): Partial<NewVariablePlace> {
    const { stage, y, P } = hands.here();
    if (stage === "modulo") return { P: Math.round(P) + (right || up) };
    if (right) return { y: y + KEY_STEP * right };
    const from = stage === "curve" ? Math.exp(y) : P;
    return { stage: "free", P: from + KEY_STEP * up };
  }

  return {
    headline,

    /** What does not move. */
    draw(facts: NewVariableFacts, { sizes }: Look) {
      const [width, height] = size();
      const { note, base, marker } = sizes;
      prime = facts.formulas.prime;
      const left = 2.6 * note;
      low = height - 1.5 * note - marker;
      const bottom = low - marker - 1.6 * note;
      x.range([left + 10, width - 6]);
      const radius = Math.min(width, height) / 2 - 2.4 * base;
      frame = new Axis(left, 4, bottom, [width, height], radius);

      const step = 0.02;
      const count = Math.round((SEEN[1] - SEEN[0]) / step);
      const points = Array.from({ length: count + 1 }, (_, n): Point => {
        const y = SEEN[0] + n * step;
        return [x(y), frame.straight(Math.exp(y))];
      });
      curve.attr("d", line()(points.filter(([, py]) => py > 0)));
      zero.attr("d", `M${left} ${frame.straight(0)}H${width}`);
      names.selectAll("*").remove();
      const says = ["P = eʸ", "y = (x₂ − x₁)ᵀM x₁"];
      const aboveCurve = { role: "ink", start: "above" } as const;
      textLines(names, [x(SEEN[0]) + 4, frame.straight(1)], says, aboveCurve);

      tokens.selectAll("*").remove();
      tokens.append("path").attr("class", "level").attr("d", `M${left} ${low}H${width}`);
      tokens
        .append("circle")
        .attr("class", "first")
        .attr("cx", x(0))
        .attr("cy", low)
        .attr("r", marker / 2 + 1);
      const soft = { role: "soft", start: "below" } as const;
      textLines(tokens, [x(0), low + marker / 2], ["x₁"], { ...soft, anchor: "middle" });
      tokens.append("circle").attr("class", "second");
      textLines(tokens, [0, 0], ["x₂"], { role: "focus", anchor: "middle", kind: "second-name" });

      center.selectAll("*").remove();
      const [cx, cy] = frame.center;
      const inside = { role: "soft", anchor: "middle", start: "below" } as const;
      textLines(center, [cx, cy + 4], facts.ring, inside);

      ticks.selectAll("*").remove();
      for (const whole of WHOLE) {
        const tick = ticks.append("g").attr("data-whole", whole);
        tick.append("circle").attr("class", "tick-dot").attr("r", 2.5);
        tick.append("text").attr("class", "nv-label").attr("dy", "0.35em");
      }
      own.attr("r", (marker + 5) / 2);
      dot.attr("r", (marker + 7) / 2);
      ring = marker + 2;
      token.radius(ring);
      point.radius(marker + 5);
    },

    /** What moves. */
    move({ y, P, bend }: Shown, stage: Stage) {
      const isRing = bend > HALF_BENT;
      flat.style("opacity", Math.max(0, 1 - 2 * bend)).classed("gone", isRing);
      center.style("opacity", Math.max(0, 2 * bend - 1));
      moveAxis(P, bend, isRing);

      const inPlane: Point = [x(y), frame.straight(P)];
      const onAxis = frame.at(P, bend).at;
      const at = mixed(inPlane, onAxis, bend);
      dot.attr("cx", at[0]).attr("cy", at[1]);
      const onCurve = frame.straight(Math.exp(y));
      const isOff = Math.abs(onCurve - inPlane[1]) > 1;
      own.attr("cx", x(y)).attr("cy", onCurve).classed("gone", !isOff);
      gap.attr("d", isOff ? `M${x(y)} ${onCurve}V${inPlane[1]}` : "");
      rule.attr(
        "d",
        `M${x(y)} ${low}V${Math.max(onCurve, inPlane[1])}M${inPlane}H${frame.at(0, 0).at[0]}`,
      );

      const words = placeOfValue(at, y, isRing);
      value
        .attr("x", words.at[0])
        .attr("y", words.at[1])
        .attr("text-anchor", words.anchor)
        .text(`P = ${isRing ? residue(Math.round(P), prime) : number(P)}`);

      tokens.select(".second").attr("cx", x(y)).attr("cy", low).attr("r", 5);
      tokens.select(".second-name").attr("transform", `translate(${x(y)} ${low - ring - 7})`);
      sayHandles({ y, P, bend }, stage, at);
    },
  };

  /** Where the value of P stands: in the middle of the ring, or beside the dot. */
  function placeOfValue([px, py]: Point, y: number, isRing: boolean) {
    const [cx, cy] = frame.center;
    if (isRing) return { at: [cx, cy - 4], anchor: "middle" };
    // The curve is lower at the left.
    if (y > ROOM_FROM) return { at: [px - 16, py - 14], anchor: "end" };
    return { at: [px + 16, py - 14], anchor: "start" };
  }

  function moveAxis(P: number, bend: number, isRing: boolean) {
    const count = 70;
    const points = Array.from({ length: count + 1 }, (_, n) => {
      return frame.at(LEAST + (n / count) * (MOST - LEAST), bend).at;
    });
    axis.attr("d", line()(points));
    ticks.selectAll<SVGGElement, unknown>("g").each(function () {
      const whole = Number(this.dataset.whole);
      const { at, outward } = frame.at(whole, bend);
      const away = isRing ? ring + 12 : 12;
      const [mark, text] = [this.firstElementChild!, this.lastElementChild!];
      this.setAttribute("transform", `translate(${at[0].toFixed(1)} ${at[1].toFixed(1)})`);
      text.setAttribute("x", String(away * outward[0]));
      text.setAttribute("y", String(away * outward[1]));
      text.setAttribute("text-anchor", isRing ? "middle" : "end");
      text.textContent = isRing ? String(residue(whole, prime)) : withMinus(whole);
      this.classList.toggle("here", isRing && Math.round(P) === whole);
      mark.classList.toggle("large", isRing);
    });
  }

  function sayHandles({ y, P }: Shown, stage: Stage, at: Point) {
    const isRing = stage === "modulo";
    const where = stage === "curve" ? "on the curve" : "off the curve";
    const words = isRing
      ? `P is ${residue(Math.round(P), prime)} modulo ${prime}`
      : `y is ${number(y)}, P is ${number(P)}, ${where}`;
    point.to(at, P, words, hands.range("P"));
    if (isRing) token.hide();
    else token.to([x(y), low], y, `y is ${number(y)}`, hands.range("y"));
  }
}

function mixed(one: Point, other: Point, share: number): Point {
  return [one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])];
}

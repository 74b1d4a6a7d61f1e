/** Two charts: the singular values of A, and how many dimensions products and fibres have. */
import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { Look, Point } from "../kit/picture";
import { textLines, viewIn, type Group } from "../kit/view";
import type { DimensionFacts, SpectrumFacts } from "./factors_facts";
import type { Product } from "./factors_product";

const LEVELS = [1, 1.5, 2, 3, 4, 6, 8, 10]; // times a power of ten: where an axis ends
const RIGHT = 20; // pixels beside the last mark

export function spectrumView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "spectrum");
  const axes = svg.append("g");
  const start = svg.append("g").attr("class", "start role-ink");
  const now = svg.append("g").attr("class", "now role-focus");
  const x = scaleLinear();
  const y = scaleLinear();
  let look: Look;

  return {
    draw(facts: SpectrumFacts, d: number, next: Look) {
      look = next;
      headline(facts.says, true);
      const [width, height] = size();
      const { note } = look.sizes;
      x.domain([0.5, d + 0.5]).range([2.4 * note, width - RIGHT]);
      y.range([height - 1.6 * note, note]);
    },

    move({ spectra }: Product) {
      const { marker, note } = look.sizes;
      const level = levelOf(Math.max(...spectra.flat(), 1e-9));
      y.domain([-0.12 * level, 1.15 * level]);
      axes.selectAll("*").remove();
      drawAxes(axes, x, y, [0, level]);
      textLines(axes, [x.range()[0] + 6, y.range()[1] - 2], ["σ(A)"], { role: "soft" });
      [start, now].forEach((group, n) => {
        group
          .selectAll("circle")
          .data(spectra[n])
          .join("circle")
          .attr("class", "mark")
          .attr("cx", (_, i) => x(i + 1))
          .attr("cy", (sigma) => y(sigma))
          .attr("r", n ? marker / 2 : marker / 2 + 4);
      });
      axes.selectAll(".tick text").attr("font-size", note);
    },
  };
}

export function dimensionsView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "dimensions");
  const axes = svg.append("g");
  const curves = svg.append("g").attr("class", "nv-answer");
  const rings = svg.append("g").attr("class", "rings role-focus nv-answer");
  const x = scaleLinear();
  const y = scaleLinear();
  let look: Look;

  return {
    draw(facts: DimensionFacts, d: number, next: Look) {
      look = next;
      headline(facts.says, true);
      const [width, height] = size();
      const { note } = look.sizes;
      const { heads, matrices, fiber } = facts;
      const top = Math.max(...matrices.formula, ...fiber.formula);
      x.domain([0.4, heads.length + 0.6]).range([2.4 * note, width - RIGHT]);
      y.domain([-0.08 * top, top]).range([height - 1.6 * note, 2.4 * note]);
      axes.selectAll("*").remove();
      drawAxes(axes, x, y, ticksOf(d * d, top, note / Math.abs(y(1) - y(0))), heads);
      drawWords(d);

      curves.selectAll("*").remove();
      for (const [name, counts] of [
        ["matrices", matrices],
        ["fiber", fiber],
      ] as const) {
        const points = (values: number[]) => heads.map((a, n): Point => [x(a), y(values[n])]);
        const group = curves.append("g").attr("class", name) as Group;
        group
          .append("path")
          .attr("class", "formula")
          .attr("d", line()(points(counts.formula)));
        drawMarks(group, name, points(counts.formula), look.sizes.marker / 2 + 2, "formula");
        drawMarks(group, name, points(counts.measured), look.sizes.marker / 2 - 1, "measured");
      }
    },

    /** Where this a is: `here` is the fibre at the point in hand. */
    move(a: number, d: number, here: number) {
      const { marker } = look.sizes;
      rings.selectAll("*").remove();
      drawMarks(rings, "matrices", [[x(a), y(2 * a * d - here)]], marker + 3, "ring");
      drawMarks(rings, "fiber", [[x(a), y(here)]], marker + 3, "ring");
    },
  };

  function drawWords(d: number) {
    const { note } = look.sizes;
    const [left, right] = x.range();
    const [low, high] = y.range();
    // All matrices have d² dimensions: there the count bends, and stays.
    const rules = `M${left} ${y(d * d)}H${right}M${x(d)} ${low}V${high - note}`;
    axes.append("path").attr("class", "level").attr("d", rules);
    const soft = { role: "soft" } as const;
    textLines(axes, [right + 6, low + 4 + 0.7 * note], ["a"], soft);
    textLines(axes, [x(d) + 4, high - 0.6 * note], ["a = d"], soft);
    textLines(axes, [left + 4, y(d * d) - 0.6 * note], ["d²"], soft);
    textLines(axes, [left + 8, 0.6 * note], ["● matrices A  ■ fibre"], soft);
  }
}

/** Circles of matrices, squares of fibres. */
function drawMarks(
  parent: Group,
  name: "matrices" | "fiber",
  points: Point[],
  radius: number,
  kind: string,
) {
  const marks = parent.append("g").attr("class", kind);
  for (const [cx, cy] of points) {
    if (name === "matrices") {
      marks.append("circle").attr("cx", cx).attr("cy", cy).attr("r", radius);
    } else {
      marks
        .append("rect")
        .attr("x", cx - radius)
        .attr("y", cy - radius)
        .attr("width", 2 * radius)
        .attr("height", 2 * radius);
    }
  }
}

type Scale = ReturnType<typeof scaleLinear<number, number>>;

function drawAxes(parent: Group, x: Scale, y: Scale, levels: number[], heads?: number[]) {
  const [left, right] = x.range();
  const [low, high] = y.range();
  const [first, last] = x.domain();
  const whole = heads ?? Array.from({ length: Math.round(last - first) }, (_, n) => n + 1);
  const across = axisBottom(x).tickValues(whole).tickSize(0).tickPadding(4).tickFormat(String);
  const up = axisLeft(y).tickValues(levels).tickSize(0).tickPadding(4).tickFormat(asNumber);
  parent.append("g").attr("transform", `translate(0 ${low})`).call(across);
  parent.append("g").attr("transform", `translate(${left} 0)`).call(up);
  parent.append("path").attr("class", "rule").attr("d", `M${left} ${high}V${low}H${right}`);
}

const asNumber = (value: { valueOf(): number }) => String(Number(value.valueOf().toPrecision(2)));

function levelOf(top: number): number {
  const power = 10 ** Math.floor(Math.log10(top));
  return LEVELS.map((level) => level * power).find((level) => level >= top * (1 - 1e-9))!;
}

/** 0, the level, and the top, where that has room for its number. */
function ticksOf(level: number, top: number, room: number): number[] {
  const isApart = top - level > room;
  const hasRoom = level > room;
  return [0, ...(hasRoom ? [level] : []), ...(isApart ? [top] : [])];
}

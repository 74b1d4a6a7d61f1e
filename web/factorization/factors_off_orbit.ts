/**
 * Where one factor has lost a rank: the other one moves off the orbit, by a ring on an upright
 * line, and A stands still.
 */
import { scaleLinear } from "d3-scale";
import { handle, type Grip } from "../kit/handle";
import { withMinus } from "../kit/numbers";
import type { Look, Range } from "../kit/picture";
import { viewIn } from "../kit/view";
import type { Rank } from "./factors_facts";

const KEY = 0.02; // of the line: what an arrow key changes
const EDGE = 14; // pixels beside the ends of the line

export interface OffOrbitOptions extends Pick<Grip, "begin" | "end"> {
  /** The ring was dragged to here. */
  moved(to: number): void;
  keyed(step: number): void;
  /** To one end of the line. */
  ended(isLargest: boolean): void;
}

export function offOrbitView(host: HTMLElement, options: OffOrbitOptions) {
  const { box, svg, size, headline } = viewIn(host, "off-orbit");
  const section = box.node()!.parentElement!;
  section.hidden = true;
  const way = svg.append("line").attr("class", "way role-focus");
  const middle = svg.append("line").attr("class", "way role-ink");
  const y = scaleLinear().clamp(true);
  const ring = handle(svg.append("g"), {
    name: "off the orbit",
    begin: options.begin,
    end: options.end,
    moved: ([, down]) => options.moved(y.invert(down)),
    keyed: (right, up) => options.keyed(KEY * (right || up)),
    ended: options.ended,
  });

  return {
    /** Whether there is something to move; true where that has changed. */
    show(isThere: boolean): boolean {
      if (section.hidden === !isThere) return false;
      section.hidden = !isThere;
      return true;
    },

    move(rank: Rank, value: number, range: Range, { sizes }: Look) {
      const [width, height] = size();
      const x = width / 2;
      y.domain([range[0], range[1]]).range([height - EDGE, EDGE]);
      way
        .attr("x1", x)
        .attr("x2", x)
        .attr("y1", height - EDGE)
        .attr("y2", EDGE);
      middle
        .attr("x1", x - 6)
        .attr("x2", x + 6)
        .attr("y1", y(0))
        .attr("y2", y(0));
      const factor = rank === "Q" ? "K" : "Q";
      const by = withMinus(value.toFixed(2));
      const step = value < 0 ? by.replace("−", "− ") : `+ ${by}`;
      headline([{ text: `${step} v wᵀ` }], false);
      ring.name(`${factor} alone, off the orbit`);
      ring.radius(1.1 * sizes.marker);
      ring.to([x, y(value)], value, `${by} off the orbit`, range);
    },
  };
}

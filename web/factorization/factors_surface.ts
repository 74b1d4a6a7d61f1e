/** 2 × 2 matrices of rank ≤ 1 and of one trace: turn the surface, and drag A on it. */
import { handle } from "../kit/handle";
import type { Look, Point, Range } from "../kit/picture";
import { plus } from "../kit/solids";
import { Space, type Sight } from "../kit/space";
import type { Thing } from "../kit/stage";
import { classOf, number, viewIn } from "../kit/view";
import type { SurfaceFacts } from "./factors_facts";
import type { SlicePoint } from "./factors_product";
import { metBy, pointAt, type Foot } from "./factors_slice";
import { drawSurface, drawnAt, REACH, unitOf } from "./factors_solids";

const SIGHT: Sight = { eye: [2.375, -3.375, 1.65], center: [0, 0, -0.1] };
// What an arrow key changes.
const TURN = 2; // degrees
const RISE = 0.02; // height

export interface SurfaceOptions {
  changed(): void;
  begin(): void;
  end(): void;
  /** The matrix of rank ≤ 1 nearest to A is to be here. */
  moved(foot: Foot): void;
  /** By arrow keys: so many degrees around, and so far up. */
  keyed(turn: number, rise: number): void;
}

/** What is seen of A, and how it may be moved. */
export interface SurfaceState {
  point: SlicePoint;
  /** Nothing limits its height but the picture: its numbers are set by hand. */
  isFree: boolean;
  /** One pair (Q, K) belongs to where it is dragged. */
  canMove: boolean;
  isHeld: boolean;
}

export function surfaceView(host: HTMLElement, options: SurfaceOptions) {
  const { svg, size, headline } = viewIn(host, "surface");
  const words = document.createElement("div");
  words.className = "lines nv-exact";
  svg.node()!.parentElement!.before(words);
  const space = new Space(svg, {
    name: "the surface",
    changed: options.changed,
    clicked() {},
  });
  space.see(SIGHT, []); // from so far that no turn brings it over an edge
  let state: SurfaceState;
  let ranges: Record<"angle" | "height", Range>;
  let facts: SurfaceFacts;
  let note = 12;
  let solids: ReturnType<typeof drawSurface> | undefined;
  let things: Thing[] = [];
  let paintedIn = "";
  let labelled = "";

  const ring = handle(svg.append("g"), {
    name: "A on its surface",
    isFlat: true,
    begin: options.begin,
    end: options.end,
    moved: drag,
    keyed: (right, up) => options.keyed(TURN * right, RISE * up),
  });

  function drag(at: Point) {
    const { point, isFree } = state;
    const unit = unitOf(point);
    const { from, way } = space.ray(at);
    const ray = { from: plus([0, 0, 0], unit, from), toward: way };
    const most = isFree ? REACH * unit : ranges.height[1];
    const near = pointAt(point.trace, point);
    const foot = metBy(ray, point.trace, near, most);
    options.moved({ ...foot, angle: turned(foot.angle) });
  }

  /** The tip has a name where there is one: at the left, as far as its length asks for. */
  function labelTip(isCone: boolean) {
    const [width, height] = size();
    const key = `${isCone} ${width} ${height} ${note} ${facts.tip}`;
    if (key === labelled) return;
    labelled = key;
    const away: Point = [-(0.27 * note * facts.tip.length + 34) / height, 0];
    space.label(isCone ? [{ lines: [facts.tip], at: [0, 0, 0], away }] : []);
  }

  return {
    get isThere() {
      return space.isThere;
    },

    draw(next: SurfaceFacts, look: Look, found: typeof ranges) {
      facts = next;
      ranges = found;
      note = look.sizes.note;
      headline(facts.says, true);
      const { colors } = look;
      if (paintedIn !== colors.ground) {
        for (const thing of things) thing.remove();
        space.stage.background(colors.ground);
        solids = drawSurface(space.stage, look);
        things = solids.things;
      }
      paintedIn = colors.ground;
      say(1);
      space.resize(...size());
      ring.radius(1.3 * look.sizes.marker);
    },

    move(next: SurfaceState) {
      state = next;
      const { point } = state;
      const drawn = drawnAt(point);
      say(unitOf(point));
      solids!.to(drawn, state.isHeld);
      labelTip(point.trace === 0);
      space.paint();
      const angle = Math.round(turned(point.angle));
      const where = `angle ${angle}°, height ${number(point.height)}`;
      if (state.canMove) {
        ring.to(space.project(pointAt(drawn.trace, drawn)), angle, where, ranges.angle);
      } else ring.hide();
    },

    close: () => space.close(),
  };

  function say(unit: number) {
    const scale = unit > 1 ? `, drawn 1 : ${Number(unit.toPrecision(2))}` : "";
    const spans = facts.lines.map(({ text, role = "ink" }, n) => {
      const span = document.createElement("span");
      span.className = classOf(role);
      span.textContent = n ? text : text + scale;
      return span;
    });
    words.replaceChildren(...spans);
  }
}

/** An angle from 0° to 360°. */
const turned = (angle: number) => ((angle % 360) + 360) % 360;

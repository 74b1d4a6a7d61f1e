/**
 * The surface cut by a plane that one takes hold of: move it along its arrow, turn it at the
 * arrow's tip.
 */
import { Controls } from "../kit/controls";
import { handle } from "../kit/handle";
import { eachFrame, player, withMiddles } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Look, Message, Point, Scene, Talk } from "../kit/picture";
import { ball, distance, dot, joined, plus, triple, tube, type Triple } from "../kit/solids";
import { Space } from "../kit/space";
import type { Thing } from "../kit/stage";
import { footerIn, viewIn } from "../kit/view";
import css from "./section.css";
import type { Section, SectionFacts, SectionPlace } from "./section_facts";
import { sectionPage } from "./section_page";
import { Cutter, inSpace, normalOf, type Box, type Plane } from "./section_plane";
import { lookAt, redraw } from "./slice_solids";
import { Slice } from "./surface_point";

const ARROW = 0.55; // its length, in the drawing
// Radii.
const TUBE = 0.024;
const EDGE = 0.008;
const MARK = 0.055;
const SIDES = 5; // of the tube
const OPACITY = 0.22; // of the plane
const OFFSETS = 65; // where it is asked whether the plane meets the surface

function make(host: HTMLElement, talk: Talk): Scene<SectionFacts, SectionPlace> {
  let message: Message<SectionFacts, SectionPlace>;
  let slice: Slice;
  let cutter: Cutter;
  let plane: Plane;
  let box: Box;
  let boxKey = ""; // turn, tilt and height of the plane that the box is of
  let things: Thing[] = [];
  let solids: ReturnType<typeof drawPlane> | undefined;
  let paintedIn = "";
  let isTouched = false;
  let ends = [-1, 1]; // of the walk

  const controls = new Controls<SectionPlace>(talk, (place) => {
    plane = cutter.planeAt(place);
    const key = [place.turn, place.tilt, plane.at].join();
    if (key !== boxKey) box = cutter.boxOf(plane);
    boxKey = key;
    frame.soon();
  });
  const frame = eachFrame(host, paint);

  const view = viewIn(host, "space");
  const space = new Space(view.svg, {
    name: "the surface",
    changed: () => frame.soon(),
    clicked() {},
  });
  const arrow = view.svg.append("line").attr("class", "arrow role-focus");
  const held = { begin: hold, end: () => controls.release() };
  const tip = handle(view.svg.append("g"), {
    name: "which way the plane looks",
    isFlat: true,
    ...held,
    moved: steer,
    keyed(right, up) {
      touch();
      const { turn, tilt } = controls.here;
      // One step also with Shift: ten are 50°.
      const turns = Math.sign(right) * controls.range("turn")[2];
      const tilts = Math.sign(up) * controls.range("tilt")[2];
      controls.go({ turn: turn + turns, tilt: tilt + tilts });
    },
    ended(isLargest) {
      touch();
      controls.go({ turn: controls.range("turn")[isLargest ? 1 : 0] });
    },
  });
  const ring = handle(view.svg.append("g"), {
    name: "the plane",
    ...held,
    moved: push,
    keyed(right, up) {
      touch();
      controls.go({ offset: controls.here.offset + (right || up) / 64 });
    },
  });
  const page = sectionPage(host);

  const { footer, note } = footerIn(host);
  const play = player(footer, {
    name: "move the plane through the surface",
    seconds: 20,
    from() {
      ends = span();
      const share = (controls.here.offset - ends[0]) / (ends[1] - ends[0]);
      return share < 0 || share > 0.95 ? 0 : share;
    },
    to: (share) => controls.go({ offset: ends[0] + share * (ends[1] - ends[0]) }),
    // Where the plane meets a pinch point, and halfway between two of them.
    moments() {
      const pinches = slice.formulas.pinches.map((pinch) => {
        const { normal, far } = plane;
        const offset = dot(normal, slice.inDrawing(pinch)) / far;
        return (offset - ends[0]) / (ends[1] - ends[0]);
      });
      return withMiddles(pinches);
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

  const middle = () => inSpace(plane, box.middle);

  /** Along the arrow: as far as the pointer has gone in the arrow's direction on the screen. */
  function push([x, y]: Point) {
    const step = 0.1;
    const from = middle();
    const a = space.project(from);
    const b = space.project(plus(from, step, plane.normal));
    const way = [b[0] - a[0], b[1] - a[1]];
    const square = Math.max(way[0] ** 2 + way[1] ** 2, 4); // it may point at the reader
    const by = (step * ((x - a[0]) * way[0] + (y - a[1]) * way[1])) / square;
    controls.go({ offset: (plane.at + by) / plane.far });
  }

  /** The turn and tilt whose arrow ends nearest to the pointer, on the side it is on. */
  function steer([x, y]: Point) {
    const from = middle();
    const [least, most, step] = controls.range("turn");
    let best: Partial<SectionPlace> = {};
    let lowest = Infinity;
    for (let turn = least; turn <= most; turn += step) {
      for (let tilt = least; tilt <= most; tilt += step) {
        const normal = normalOf(turn, tilt);
        const [u, v] = space.project(plus(from, ARROW, normal));
        const cost = Math.hypot(u - x, v - y) + 12 * distance(normal, plane.normal);
        if (cost < lowest) [best, lowest] = [{ turn, tilt }, cost];
      }
    }
    controls.go(best);
  }

  /** The offsets between which there is something to be seen. */
  function span() {
    const [least, most] = controls.range("offset");
    const all = Array.from({ length: OFFSETS }, (_, n) => {
      return least + ((most - least) * n) / (OFFSETS - 1);
    });
    const { tones } = message.facts.slice;
    const cuts = all.map((offset) => {
      const cut = cutter.cut(cutter.planeAt({ ...controls.here, offset }));
      const hasRuns = cut.runs.some((run) => run.length > 2);
      return { offset, hasRuns, isSpecial: cutter.section(cut, tones).singular.length > 0 };
    });
    // As long as something special is cut; where nothing is, as long as anything is.
    const special = cuts.filter(({ isSpecial }) => isSpecial);
    const shown = special.length > 1 ? special : cuts.filter(({ hasRuns }) => hasRuns);
    return shown.length > 1 ? [shown[0].offset, shown[shown.length - 1].offset] : [least, most];
  }

  /** As Python said it, where that is this place; else as it is computed here. */
  function sectionHere(): Section {
    const { section, slice: said } = message.facts;
    return controls.isExact ? section : cutter.section(cutter.cut(plane), said.tones);
  }

  function paint() {
    if (!plane || !solids) return;
    const section = sectionHere();
    const from = middle();
    const to = plus(from, ARROW, plane.normal);
    solids.to(plane, box, section);
    space.paint();
    page.move(section, plane, box);

    const [a, b] = [space.project(from), space.project(to)];
    arrow.attr("x1", a[0]).attr("y1", a[1]).attr("x2", b[0]).attr("y2", b[1]);
    const { offset, turn, tilt } = controls.here;
    ring.to(a, offset, `${offset.toFixed(2)} of the way out`, controls.range("offset"));
    tip.to(b, turn, `turned by ${turn}°, tilted by ${tilt}°`, controls.range("turn"));
    say();
  }

  function say() {
    const drag = "drag the ring to move the plane, the end of the arrow to turn it";
    const hint = isTouched ? "" : drag;
    const says = space.isThere ? hint : "No 3-D picture: this browser has no WebGL.";
    stand(host, note, controls, says);
  }

  /** Meshes are made once for a slice and a theme. */
  function build(look: Look) {
    const drawn = redraw(space.stage, things, slice, message.facts.slice, look);
    solids = drawPlane(space, look);
    things = [...drawn.things, ...solids.things];
  }

  return {
    show(next) {
      const before = message;
      message = next;
      const { facts, look } = next;
      const isNew = before?.facts.formulas !== facts.formulas;
      if (isNew) {
        slice = new Slice(facts.formulas);
        cutter = new Cutter(facts.formulas);
        boxKey = "";
        isTouched = false;
        play.stop();
      }
      controls.take(next, isNew);
      view.headline(facts.about, true);
      page.headline(facts.found, true);
      page.draw(look);
      if (isNew || paintedIn !== look.colors.ground) build(look);
      paintedIn = look.colors.ground;
      lookAt(space, slice, facts.slice, before?.facts.slice);
      space.resize(...view.size());
      ring.radius(1.3 * look.sizes.marker);
      tip.radius(0.75 * look.sizes.marker);
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

/** The plane with its edge, and the section in it with its singular points. */
function drawPlane({ stage }: Space, { colors }: Look) {
  const nothing = joined([]);
  const curve = stage.add(nothing, { color: colors.focus });
  const edge = stage.add(nothing, { color: colors.focus });
  const sheet = stage.add(nothing, { color: colors.focus, isLit: false, opacity: OPACITY });
  const marks = stage.add(nothing, { color: colors.singular });
  return {
    things: [curve, edge, sheet, marks],
    to(plane: Plane, { middle, half }: Box, { runs, singular }: Section) {
      const corners = CORNERS.map(([right, up]) =>
        inSpace(plane, [middle[0] + right * half[0], middle[1] + up * half[1]]),
      );
      sheet.change({
        position: corners.flat(),
        normal: corners.flatMap(() => plane.normal),
        faces: [0, 1, 2, 0, 2, 3],
      });
      edge.change(joined(corners.map((at, n) => tube([at, corners[(n + 1) % 4]], EDGE))));
      const paths = runs.map(({ points }) => rowsOf(points)).filter((run) => run.length > 1);
      curve.change(joined(paths.map((run) => tube(run, TUBE, SIDES))));
      marks.change(joined(singular.map(({ at }) => ballAt(at))));
    },
  };
}

const CORNERS = [
  [-1, -1],
  [1, -1],
  [1, 1],
  [-1, 1],
];

function ballAt(at: Triple) {
  const solid = ball(MARK);
  return { ...solid, position: solid.position.map((value, n) => value + at[n % 3]) };
}

const rowsOf = (flat: number[]): Triple[] =>
  Array.from({ length: flat.length / 3 }, (_, row) => triple(flat, row));

export const section = { make, style: css };

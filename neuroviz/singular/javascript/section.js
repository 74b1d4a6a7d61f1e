// The surface cut by a plane that one takes hold of: move it along its arrow, turn it at the arrow's tip.
import { abs, cos, draw, handle, hypot, max, min, PI, placeOf, player, round, set, sin, stand, write } from "../../kit/javascript/scene.js";
import { ball, ballAt, rod, rodFrom, viewIn } from "../../kit/javascript/space.js";
import { cross, cutterOf, dot, mix } from "./section_plane.js";

const TUBE = 0.024, EDGE = 0.008, MARK = 0.055, MARGIN = 0.06, ARROW = 0.55, CLEAR = 0.22; // as in section_figure.py
const MARKS = {
  crossing: { name: "nodes: two sheets cross", label: "a node" },
  boundary: { name: "cusps: boundary", label: "boundary" },
  "closure only": { name: "isolated points: no real common root", label: "isolated" },
};

export function section(host, talk) {
  let cutter, meta, layout, data, width = 0, height = 0, plane, box, found, frame = 0, built = "", isNewHere = true, flat;
  let words = [], grip, tip, play, note, solids = [], paintedIn, boxed = "", ends = [-1, 1];
  const over = draw(host, "svg");
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const soon = () => { frame ||= requestAnimationFrame(paint); };
  const view = viewIn(host, over, { name: "the surface", changed: soon }), { space } = view;
  const page = host.insertBefore(document.createElement("canvas"), over), pen = page.getContext("2d");
  page.style.cssText = "position: absolute; pointer-events: none";
  const hooks = draw(over, "g"), arrow = draw(hooks, "line");
  const where = placeOf(talk, () => meta, (place) => {
    plane = cutter.planeAt(place);
    const key = [place.turn, place.tilt, plane.at].join();
    if (key !== boxed) [boxed, flat] = [key, cutter.boxOf(plane)];
    soon();
  });
  const hold = () => { isNewHere = false; play.stop(); where.hold(); };
  const middle = () => [0, 1, 2].map((i) => plane.at * plane.normal[i] + flat.middle[0] * plane.across[i] + flat.middle[1] * plane.up[i]);
  const away = (p, normal, by) => p.map((t, i) => t + by * normal[i]);

  // Along the arrow: as far as the pointer has gone in the arrow's direction on the screen.
  function push([x, y]) {
    const from = middle(), a = view.seen(from), b = view.seen(away(from, plane.normal, 0.1)), way = [b[0] - a[0], b[1] - a[1]];
    const square = max(way[0] ** 2 + way[1] ** 2, 4), by = (0.1 * ((x - a[0]) * way[0] + (y - a[1]) * way[1])) / square;
    where.go({ offset: (plane.at + by) / plane.far });
  }

  // The turn and tilt whose arrow ends nearest to the pointer, on the side it is on.
  function steer([x, y]) {
    const from = middle(), [least, most, step] = meta.ranges.turn;
    let best, little = Infinity;
    for (let turn = least; turn <= most; turn += step) for (let tilt = least; tilt <= most; tilt += step) {
      const { normal } = cutter.planeAt({ ...where.here, turn, tilt }), [u, v] = view.seen(away(from, normal, ARROW));
      const cost = hypot(u - x, v - y) + 12 * hypot(...normal.map((t, i) => t - plane.normal[i]));
      if (cost < little) [best, little] = [{ turn, tilt }, cost];
    }
    where.go(best);
  }

  // The offsets between which the plane meets the surface: beyond them there is nothing to see.
  function span() {
    const all = Array.from({ length: 65 }, (_, n) => n / 32 - 1);
    const meets = all.filter((offset) => cutter.cut(cutter.planeAt({ ...where.here, offset })).runs.some((run) => run.length > 2));
    return meets.length > 1 ? [meets[0], meets[meets.length - 1]] : [-1, 1];
  }

  function build() {
    for (const one of [...words, ...(play ? [play.button, note] : [])]) one.remove();
    hooks.replaceChildren(arrow);
    const { look } = meta, { sizes, colors } = look, side = 16, top = round(2.2 * sizes.title), all = width - 2 * side;
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink });
    Object.assign(host.style, { position: "relative", fontFamily: look.font, fontSize: `${sizes.note}px`, lineHeight: 1.35 });
    set(over, { width, height });
    const wide = 0.6 * all, left = side + 0.63 * all, tall = height - top - 12;
    view.place({ left: side, top, wide, tall }, layout.scene, look);
    const line = { fontSize: `${sizes.title}px`, lineHeight: 1.2, maxWidth: `${left - side - 8}px`, pointerEvents: "none", top: "6px" };
    words = [write(host, { left: `${side}px`, ...line }), write(host, { left: `${left}px`, ...line })];
    for (const one of words) one.classList.add("nv-exact");
    box = { left, top, wide: 0.355 * all, tall };
    Object.assign(page, { width: 2 * box.wide, height: 2 * tall });
    Object.assign(page.style, { left: `${left}px`, top: `${top}px`, width: `${box.wide}px`, height: `${tall}px` });
    const common = { color: colors.focus, begin: hold, end: () => where.release(), scene: host };
    tip = handle(hooks, { name: "which way the plane looks", range: () => where.range("turn"), isFlat: true, ring: 6, ...common, moved: steer,
      keyed: (x, y) => where.go({ turn: where.here.turn + 5 * Math.sign(x), tilt: where.here.tilt + 5 * Math.sign(y) }) });
    grip = handle(hooks, { name: "the plane", range: () => where.range("offset"), ring: 1.3 * sizes.marker, ...common, moved: push,
      keyed: (x, y) => where.go({ offset: where.here.offset + (x || y) / 64 }) });
    play = player(host, { left: `${side}px`, bottom: "2px" }, {
      name: "move the plane through the surface", seconds: 20,
      from: () => {
        ends = span();
        const come = (where.here.offset - ends[0]) / (ends[1] - ends[0]);
        return come < 0 || come > 0.95 ? 0 : come;
      },
      walk: (share) => where.go({ offset: ends[0] + share * (ends[1] - ends[0]) }),
    });
    Object.assign(play.button.style, { background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}` });
    note = write(host, { left: `${side + 40}px`, bottom: "0", color: colors.soft, lineHeight: 1.1, pointerEvents: "none" });
  }

  // What the plane cuts out: as Python said it where that is this place, else as computed here.
  function sectionHere() {
    const named = Object.fromEntries(data.filter((trace) => trace.type !== "mesh3d").map((trace) => [trace.name, trace]));
    const pairs = ({ x, y }) => x.map((t, n) => [t, y[n]]);
    if (where.isExact) {
      const tones = named["which sheet"].marker.color, runs = [[]];
      let count = 0;
      for (const [x, y] of pairs(named["the section"])) {
        if (x === null) runs.push([]);
        else runs[runs.length - 1].push({ at: [x, y], tone: tones[count++] });
      }
      const marks = Object.entries(MARKS).flatMap(([kind, { name }]) => pairs(named[name]).map((at) => ({ kind, at })));
      return { runs, marks, held: pairs(named["the singular curve lies in the plane"]) };
    }
    const { intensity } = data.find((trace) => trace.type === "mesh3d"), { runs, singular, along } = found;
    const sizes = meta.local.strips.map(({ theta }) => theta.length), total = sizes.reduce((a, b) => a + b, 0), steps = intensity.length / total;
    const flatten = (p) => [dot(p, plane.across), dot(p, plane.up)];
    const tone = ({ strip, row, share }) => intensity[(sizes.slice(0, strip).reduce((a, b) => a + b, 0) + row) * steps + round(share * (steps - 1))];
    return {
      runs: runs.map((run) => run.map((one) => ({ at: flatten(one.p), tone: tone(one) }))),
      marks: singular.map(({ kind, p }) => ({ kind, at: flatten(p) })),
      held: along.flatMap(({ points }) => [...points.map(flatten), [null]]),
    };
  }

  function drawPage() {
    const { colors, sizes, font } = meta.look, { runs, marks, held } = sectionHere(), { middle: [a, b], size: [w, h] } = flat;
    const scale = 0.96 * min(box.wide / (2 * (w + MARGIN)), box.tall / (2 * (h + MARGIN)));
    const to = ([x, y]) => [box.wide / 2 + scale * (x - a), box.tall / 2 - scale * (y - b)];
    pen.setTransform(2, 0, 0, 2, 0, 0);
    pen.clearRect(0, 0, box.wide, box.tall);
    const corner = to([a - w, b + h]), extent = [2 * scale * w, 2 * scale * h];
    pen.fillStyle = colors.panel;
    pen.fillRect(...corner, ...extent);
    [pen.strokeStyle, pen.lineWidth] = [colors.focus, 2];
    pen.strokeRect(...corner, ...extent);
    [pen.lineCap, pen.lineJoin] = ["round", "round"];
    const path = (points, color, thick) => {
      pen.beginPath();
      points.forEach((p, n) => (n ? pen.lineTo(...to(p)) : pen.moveTo(...to(p))));
      [pen.strokeStyle, pen.lineWidth] = [color, thick];
      pen.stroke();
    };
    for (const run of runs) path(run.map(({ at }) => at), colors.ruling, 3.6 * sizes.line);
    const shades = data.find((trace) => trace.type === "mesh3d").colorscale.map(([, code]) => [1, 3, 5].map((i) => parseInt(code.slice(i, i + 2), 16)));
    const shade = (tone) => `rgb(${(tone < 0 ? mix(shades[1], shades[0], -tone) : mix(shades[1], shades[2], tone)).map(round).join()})`;
    for (const run of runs) run.forEach(({ at, tone }, n) => { if (n) path([run[n - 1].at, at], shade(tone), 2.4 * sizes.line); });
    pen.setLineDash([8, 5]);
    let part = [];
    for (const at of [...held, [null]]) { if (at[0] === null) { path(part, colors.singular, 2 * sizes.line); part = []; } else part.push(at); }
    pen.setLineDash([]);
    pen.font = `${sizes.note}px ${font}`;
    pen.textAlign = "center";
    const said = new Set(), size = 0.9 * sizes.marker;
    for (const { kind, at } of marks) {
      const [x, y] = to(at);
      pen.beginPath();
      if (kind === "boundary") { pen.moveTo(x, y - 1.15 * size); pen.lineTo(x + size, y + 0.6 * size); pen.lineTo(x - size, y + 0.6 * size); pen.closePath(); } else pen.arc(x, y, size, 0, 2 * PI);
      [pen.strokeStyle, pen.lineWidth, pen.fillStyle] = [colors.ink, kind === "closure only" ? 3 : 2, kind === "crossing" ? colors.singular : colors.ink];
      if (kind !== "closure only") pen.fill();
      pen.stroke();
      if (said.has(kind)) continue;
      said.add(kind);
      const { label } = MARKS[kind], length = pen.measureText(label).width, up = at[1] - b > 0.75 * h ? 1 : -1;
      const u = max(length / 2 + 4, min(box.wide - length / 2 - 4, x)), v = y + up * (1.4 * sizes.marker + 2) + (up > 0 ? 0.7 * sizes.note : 0);
      [pen.strokeStyle, pen.lineWidth, pen.fillStyle] = [colors.panel, 4, colors.ink];
      pen.strokeText(label, u, v);
      pen.fillText(label, u, v);
    }
  }

  function paint() {
    frame = 0;
    if (!plane || !width) return;
    const { colors } = meta.look, { isExact } = where, models = {}, from = middle();
    if (!isExact) found = cutter.cut(plane);
    // A square, four rods for its edges, a tube and balls: all there from the start, and moved.
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) =>
      [0, 1, 2].map((i) => from[i] + x * flat.size[0] * plane.across[i] + y * flat.size[1] * plane.up[i]));
    models[0] = [...plane.across.map((t) => flat.size[0] * t), 0, ...plane.up.map((t) => flat.size[1] * t), 0, ...plane.normal, 0, ...from, 1];
    corners.forEach((corner, n) => { models[1 + n] = rodFrom(corner, corners[(n + 1) % 4], EDGE); });
    for (let n = 0; n < 4; n++) models[5 + n] = !isExact && found.singular[n] ? ballAt(found.singular[n].p, MARK) : null;
    models[9] = rodFrom(from, away(from, plane.normal, ARROW), EDGE);
    const own = data.filter((trace) => trace.type === "mesh3d" && trace.meta === "local" && !/plane$/.test(trace.name));
    const local = isExact ? own : [tubeOf(found.runs.map((run) => run.map(({ p }) => p)), colors.focus)];
    view.show([...solids, ...data.filter((trace) => trace.type === "mesh3d" && trace.meta !== "local"), ...local], layout.scene, colors.ground);
    view.paint(models);
    const a = view.seen(from), b = view.seen(away(from, plane.normal, ARROW)), { offset, turn, tilt } = where.here;
    set(arrow, { x1: a[0], y1: a[1], x2: b[0], y2: b[1], stroke: colors.focus, "stroke-width": 2 });
    grip.to(a, offset, `${offset.toFixed(2)} of the way out`);
    tip.to(b, turn, `turned by ${turn}°, tilted by ${tilt}°`);
    drawPage();
    stand(host, note, isExact, talk.isAlone, space.isThere, isNewHere ? "drag the ring to move the plane, the end of the arrow to turn it" : "");
  }

  const undo = talk.heard(() => where.follow());
  return {
    show(traces, next, wide) {
      const before = meta;
      [data, layout, meta] = [traces, next, next.meta];
      const isNew = before?.local !== meta.local, looks = JSON.stringify([meta.look, wide, layout.height, layout.scene.annotations]);
      if (isNew) [cutter, boxed] = [cutterOf(meta.local), ""];
      if (isNew || looks !== built) {
        [built, width, height] = [looks, wide, layout.height];
        build();
      }
      const { focus, singular } = meta.look.colors;
      if (paintedIn !== focus) {
        const square = { x: [-1, 1, 1, -1], y: [-1, -1, 1, 1], z: [0, 0, 0, 0], i: [0, 0], j: [1, 2], k: [2, 3], color: focus, opacity: CLEAR };
        solids = [square, ...Array.from({ length: 4 }, () => rod(focus)), ...Array.from({ length: 4 }, () => ball(singular)), rod(focus)];
        paintedIn = focus;
      }
      words.forEach((one, number) => { const { text } = layout.annotations[number]; if (one.innerHTML !== text) one.innerHTML = text; });
      if (isNew) where.start();
      else where.follow();
      soon();
    },
    close() {
      undo();
      where.stop();
      play?.stop();
      cancelAnimationFrame(frame);
      space.forget();
    },
  };
}

// A thin tube along runs of points, as a trace.
function tubeOf(runs, color) {
  const trace = { x: [], y: [], z: [], i: [], j: [], k: [], color }, sides = 5;
  for (const run of runs) {
    const first = trace.x.length;
    run.forEach((p, n) => {
      const before = run[max(0, n - 1)], after = run[min(run.length - 1, n + 1)], way = after.map((t, i) => t - before[i]);
      const unit = (v) => { const size = hypot(...v) || 1; return v.map((t) => t / size); };
      const aside = unit(cross(way, abs(way[2]) < 0.9 * hypot(...way) ? [0, 0, 1] : [1, 0, 0])), other = unit(cross(way, aside));
      for (let k = 0; k < sides; k++) {
        const [c, s] = [cos((2 * PI * k) / sides), sin((2 * PI * k) / sides)], here = first + n * sides + k, beside = first + n * sides + ((k + 1) % sides);
        ["x", "y", "z"].forEach((name, i) => trace[name].push(p[i] + TUBE * (c * aside[i] + s * other[i])));
        if (n + 1 === run.length) continue;
        trace.i.push(here, beside); trace.j.push(beside, beside + sides); trace.k.push(here + sides, here + sides);
      }
    });
  }
  return trace;
}

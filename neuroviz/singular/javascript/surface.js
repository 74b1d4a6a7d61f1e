// The singular surface, to take hold of: turn it, drag the point on it, or a root on the circle, and both follow.
import { abs, drag, draw, handle, hypot, keys, matrix, max, min, player, round, set, tween, write } from "../../kit/javascript/scene.js";
import { ball, ballAt, cameraOf, rod, rodFrom, spaceIn } from "../../kit/javascript/space.js";
import { onCircle, sliceOf } from "./surface_point.js";

const STEPS = 20; // along a ruling, of the triangles that the pointer is looked for in
const NEAR = 9, LEAVES = 18; // pixels: how near to the singular curve the point snaps to it, and lets go
const BEYOND = 0.07, BALL = 0.07, ROD = 0.022; // as in surface_figure.py
const RANGES = { where: [0, 1], along: [-1, 1] };
const to6 = (t) => round(t * 1e6) / 1e6;
const away3 = (a, b) => hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const away2 = (a, b) => hypot(a[0] - b[0], a[1] - b[1]);
const KINDS = {
  smooth: "common root", crossing: "both roots common", boundary: "common root", "closure only": "common pair, not real",
};

export function surface(host, talk) {
  let slice, grids, meta, layout, width = 0, height = 0, box, place, point, held = false, frame = 0, stopTween = () => {};
  let words = [], labels = [], built = "", seenAs = null, moving = false;
  const canvas = host.appendChild(document.createElement("canvas"));
  const space = spaceIn(canvas);
  const over = draw(host, "svg");
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const leaders = draw(over, "g"), disc = draw(over, "g"), sets = draw(over, "g"), hooks = draw(over, "g");
  canvas.style.cssText = "position: absolute; cursor: move";
  set(canvas, { role: "application", "aria-label": "the surface: arrow keys turn it" });
  let grip, ring, twin, others = [], play, note, isNewHere = true;

  // --- where it is ------------------------------------------------------------------------------------

  const here = () => ({ moves: talk.get("moves"), where: to6(talk.get("where")), along: to6(talk.get("along")) });
  const same = (a, b) => a.moves === b.moves && abs(a.where - b.where) < 1e-6 && (a.moves === "curve" || abs(a.along - b.along) < 1e-6);

  function go(found) {
    const { steps } = meta.local, next = { ...place, ...found };
    for (const [name, [low, high]] of Object.entries(RANGES)) {
      next[name] = to6(max(low, min(high, round(next[name] / steps[name]) * steps[name])));
    }
    if (next.moves === "curve") next.along = place.along;
    if (same(next, place)) return;
    stopTween();
    moving = true;
    show(next);
    talk.set(next);
    moving = false;
  }

  // The controls have moved: by a slider, a preset, or Python.
  function follow() {
    if (moving || held || !slice) return;
    const next = here(), before = place;
    if (same(next, before)) return;
    stopTween();
    const far = abs(next.where - before.where) + abs(next.along - before.along) > 0.03;
    if (!far || next.moves !== before.moves) return show(next);
    stopTween = tween((share) => show({
      moves: next.moves, where: before.where + share * (next.where - before.where),
      along: before.along + share * (next.along - before.along),
    }));
  }

  function show(next) {
    place = next;
    point = slice.pointAt(place);
    frame ||= requestAnimationFrame(paint);
  }

  // --- what the pointer is on -------------------------------------------------------------------------

  function gridsOf({ strips }) {
    let before = 0;
    return strips.map(({ theta, starts, ends }) => {
      const rows = theta.length, points = [];
      for (let row = 0; row < rows; row++) for (let step = 0; step <= STEPS; step++)
        points.push(slice.inDrawing([0, 1, 2].map((i) => ((STEPS - step) * starts[3 * row + i] + step * ends[3 * row + i]) / STEPS)));
      before += rows;
      return { rows, points, before: before - rows };
    });
  }

  const placed = (grid, row, step) => ({ moves: "surface", where: (grid.before + row) / slice.total, along: (2 * step) / STEPS - 1 });

  // All places of the surface behind a pixel: Möller and Trumbore, for two triangles of each cell.
  function hits(pixel) {
    const { from: o, toward: d } = space.ray(pixel), found = [];
    const triangle = (a, b, c) => {
      const e0 = b[0] - a[0], e1 = b[1] - a[1], e2 = b[2] - a[2], f0 = c[0] - a[0], f1 = c[1] - a[1], f2 = c[2] - a[2];
      const p0 = d[1] * f2 - d[2] * f1, p1 = d[2] * f0 - d[0] * f2, p2 = d[0] * f1 - d[1] * f0, det = e0 * p0 + e1 * p1 + e2 * p2;
      if (det === 0) return null;
      const t0 = o[0] - a[0], t1 = o[1] - a[1], t2 = o[2] - a[2], u = (t0 * p0 + t1 * p1 + t2 * p2) / det;
      if (u < 0 || u > 1) return null;
      const q0 = t1 * e2 - t2 * e1, q1 = t2 * e0 - t0 * e2, q2 = t0 * e1 - t1 * e0, v = (d[0] * q0 + d[1] * q1 + d[2] * q2) / det;
      return v < 0 || u + v > 1 ? null : [u, v, (f0 * q0 + f1 * q1 + f2 * q2) / det];
    };
    for (const grid of grids) for (let row = 0; row + 1 < grid.rows; row++) for (let step = 0; step < STEPS; step++) {
      const at = row * (STEPS + 1) + step, { points } = grid, a = points[at], b = points[at + STEPS + 1], c = points[at + 1], e = points[at + STEPS + 2];
      let cell = triangle(a, b, e), more = cell && [cell[0] + cell[1], cell[1]];
      if (!cell) { cell = triangle(a, e, c); more = cell && [cell[0], cell[0] + cell[1]]; }
      if (cell) found.push({ depth: cell[2], drawn: o.map((t, i) => t + cell[2] * d[i]), place: placed(grid, row + more[0], step + more[1]) });
    }
    return found;
  }

  function nearestOnCurve(pixel) {
    let best = { away: Infinity };
    slice.pieces.forEach((piece, index) => {
      let before = null;
      for (let row = 0; row < piece.points.length / 3; row++) {
        const drawn = slice.inDrawing([0, 1, 2].map((i) => piece.points[3 * row + i])), seen = space.project(drawn);
        if (before) {
          const way = [seen[0] - before.seen[0], seen[1] - before.seen[1]], square = way[0] ** 2 + way[1] ** 2 || 1;
          const share = max(0, min(1, ((pixel[0] - before.seen[0]) * way[0] + (pixel[1] - before.seen[1]) * way[1]) / square));
          const away = away2(pixel, [before.seen[0] + share * way[0], before.seen[1] + share * way[1]]);
          if (away < best.away) {
            // Half a step from its ends, as rounding may lead to the next piece, which begins elsewhere.
            const run = slice.runs[index], [first, last] = [0, 1].map((end) => slice.starts[index + end] / slice.length);
            const where = first + (run[row - 1] + share * (run[row] - run[row - 1])) / slice.length, half = meta.local.steps.where / 2;
            best = { away, drawn, where: max(first + half, min(last - half, where)) };
          }
        }
        before = { seen };
      }
    });
    return best;
  }

  function nearestOnEdge(pixel) {
    let best = { away: Infinity };
    for (const grid of grids) grid.points.forEach((drawn, at) => {
      const away = away2(pixel, space.project(drawn)) + 20 * away3(drawn, point.drawn);
      if (away < best.away) best = { away, place: placed(grid, Math.floor(at / (STEPS + 1)), at % (STEPS + 1)) };
    });
    return best;
  }

  // The place a pointer leads to: the sheet that the point is on, the singular curve where it is near.
  function placeAt(pixel, front = false) {
    const onCurve = place.moves === "curve", curve = nearestOnCurve(pixel), found = hits(pixel);
    const by = front ? (hit) => hit.depth : (hit) => away3(hit.drawn, point.drawn);
    const hit = found.length ? found.reduce((a, b) => (by(b) < by(a) ? b : a)) : null;
    const joined = onCurve || !hit || away3(curve.drawn ?? [9, 9, 9], hit.drawn) < 0.4;
    if (curve.away < (onCurve && !front ? LEAVES : NEAR) && joined) return { moves: "curve", where: curve.where };
    if (hit) return hit.place;
    if (front) return null;
    const edge = nearestOnEdge(pixel);
    return curve.away < edge.away ? { moves: "curve", where: curve.where } : edge.place;
  }

  // --- the roots ---------------------------------------------------------------------------------------

  const onRim = (phi) => [Math.cos(phi), Math.sin(phi)];
  const commonOf = (p) => (p.roots.length ? p.roots.map(onRim) : onCircle(p.forms.find((q) => q.some((t) => t)) ?? p.forms[0]));

  // Where a root is for another place on the same sheet or curve: the common one, or the other one of a form.
  function markAt(where, form, target) {
    const isOnCurve = place.moves === "curve" && slice.pieces.length;
    if (form === null && !isOnCurve) return onRim(2 * slice.ruling(where).theta);
    const p = slice.pointAt({ ...place, where }), common = commonOf(p);
    const marks = form === null || isOnCurve ? common : onCircle(p.forms[form]);
    if (!marks.length) return null;
    const by = form === null || isOnCurve ? (m) => away2(m, target) : (m) => -away2(m, common[0]);
    return marks.reduce((a, b) => (by(b) < by(a) ? b : a));
  }

  function dragRoot(form, target) {
    const cost = (where) => {
      const mark = markAt(where, form, target);
      return mark ? away2(mark, target) + 0.1 * abs(where - place.where) : Infinity;
    };
    let best = place.where, least = cost(best);
    const around = (middle, reach, count) => {
      for (let n = -count; n <= count; n++) {
        const where = max(0, min(1, middle + (reach * n) / count)), value = cost(where);
        if (value < least) [best, least] = [where, value];
      }
    };
    around(0.5, 0.5, 50);
    around(best, 0.01, 10);
    go({ where: best });
  }

  // --- the picture -------------------------------------------------------------------------------------

  function build() {
    for (const group of [leaders, disc, sets, hooks]) group.replaceChildren();
    for (const one of [...words, ...labels, ...(play ? [play.button, note] : [])]) one.remove();
    const { look } = meta, { sizes, colors } = look, side = 16, top = round(2.2 * sizes.title), column = max(22 * sizes.note + 60, 0.32 * (width - 2 * side));
    const left = width - side - column, tall = height - top - 12;
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink });
    Object.assign(host.style, { position: "relative", fontFamily: look.font, fontSize: `${sizes.note}px`, lineHeight: 1.35 });
    set(over, { width, height });
    Object.assign(canvas.style, { left: `${side}px`, top: `${top}px` });
    space.resize(left - 2 * side, tall);
    box = { side, top, left, column, wide: left - 2 * side, tall };

    const line = { fontSize: `${sizes.title}px`, whiteSpace: "nowrap" }, soft = { color: colors.soft };
    words = [
      write(host, { left: `${side}px`, top: "6px", ...line }),
      write(host, { left: `${left}px`, top: "6px", ...line }),
      write(host, { left: `${left}px`, top: `${top}px`, ...soft }),
      write(host, { left: `${left}px`, bottom: "12px", fontSize: `${sizes.note + 1}px`, whiteSpace: "nowrap" }),
    ];
    words.forEach((one, number) => { one.style.pointerEvents = "none"; if (number % 2) one.classList.add("nv-exact"); });

    // Between the key and the five lines below, with room for the words at a root; and beside the weights.
    const low = top + 2.9 * sizes.note, room = height - 20 - 6.8 * (sizes.note + 1) - 3 * sizes.note - low, cell = 3.2 * sizes.note;
    const radius = min(room / 2 - 6, (column - 2 * cell - 4 * sizes.note - 24) / 2);
    Object.assign(box, { radius, cell, middle: [left + radius + 24, low + 1.5 * sizes.note + 6 + radius] });
    draw(disc, "circle", { cx: box.middle[0], cy: box.middle[1], r: radius, fill: colors.wash, stroke: colors.axis, "stroke-width": 2 });
    box.chords = [0, 1].map((k) => draw(disc, "g", { stroke: k ? colors.soft : colors.ink, "stroke-width": sizes.line, fill: k ? "none" : colors.ink }));
    set(box.chords[1], { "stroke-dasharray": "7 5" });
    box.common = draw(disc, "text", { fill: colors.focus, "font-size": sizes.note, "text-anchor": "middle" });

    const key = (go1, go2) => ({ color: colors.focus, begin: hold, end: release, scene: host, keyed: go1, moved: go2 });
    others = [0, 1].map((k) => {
      const node = draw(hooks, "circle", { r: 12, fill: "transparent" });
      node.style.cssText = "pointer-events: all; cursor: grab";
      drag(node, host, { begin: hold, end: release, move: (at) => dragRoot(k, toDisc(at)) });
      return node;
    });
    ring = handle(hooks, { name: "the common root", ring: 1.5 * sizes.marker, ...key((x, y) => go({ where: place.where + 0.01 * (x || y) }), (at) => dragRoot(null, toDisc(at))) });
    twin = draw(hooks, "circle", { r: 1.5 * sizes.marker, fill: "transparent", stroke: colors.focus, "stroke-width": 3 });
    twin.style.cssText = "pointer-events: all; cursor: grab";
    drag(twin, host, { begin: hold, end: release, move: (at) => dragRoot(null, toDisc(at)) });
    grip = handle(hooks, { name: "the point", ring: 1.3 * sizes.marker, ...key(
      (x, y) => go(place.moves === "curve" ? { where: place.where + 0.005 * (x || y) } : { where: place.where + 0.005 * x, along: place.along + 0.03125 * y }),
      ([x, y]) => { const found = placeAt([x - side, y - top]); if (found) go(found); },
    ) });
    play = player(host, { left: `${side}px`, bottom: "10px" }, {
      name: slice.pieces.length ? "walk along the yellow curve" : "walk over all lines", seconds: 9,
      from: () => { const far = place.moves === "curve" ? 1 - place.where : 0; return !slice.pieces.length ? place.where % 1 : far > 0.99 ? 0 : far; },
      walk: (share) => go(slice.pieces.length ? { moves: "curve", where: 1 - share } : { moves: "surface", where: share }),
    });
    Object.assign(play.button.style, { background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}` });
    note = write(host, { left: `${side + 40}px`, bottom: "14px", color: colors.soft, background: colors.ground, pointerEvents: "none" });
    labels = (layout.scene.annotations ?? []).filter(({ text, visible }) => text.trim() && visible !== false).map((one) => {
      const label = write(host, { textShadow: `${`0 0 3px ${colors.ground},`.repeat(4)}0 0 3px ${colors.ground}`, textAlign: "center", whiteSpace: "nowrap", pointerEvents: "none", transform: "translate(-50%, -50%)" }, one.text);
      label.of = one;
      label.leader = draw(leaders, "line", { stroke: colors.soft, "stroke-width": 1.5 });
      return label;
    });
  }

  const toDisc = ([x, y]) => [(x - box.middle[0]) / box.radius, (box.middle[1] - y) / box.radius];
  const fromDisc = ([x, y]) => [box.middle[0] + box.radius * x, box.middle[1] - box.radius * y];
  const hold = () => { held = true; isNewHere = false; play.stop(); stopTween(); };
  const release = () => { held = false; };

  function paint() {
    frame = 0;
    if (!point || !width) return;
    const { look } = meta, { colors, sizes } = look, { side, top } = box;
    const models = {}, ends = point.ruling?.map(slice.inDrawing);
    if (ends) {
      const way = ends[1].map((t, i) => t - ends[0][i]), size = hypot(...way) || 1, more = way.map((t) => (BEYOND * t) / size);
      models[0] = rodFrom(ends[0].map((t, i) => t - more[i]), ends[1].map((t, i) => t + more[i]), ROD);
    } else models[0] = null;
    models[1] = ballAt(point.drawn, BALL);
    space.render(models);
    const seen = (p) => { const [x, y] = space.project(p); return [x + side, y + top]; };
    grip.to(seen(point.drawn), point.kind === "smooth" ? "a smooth point" : point.kind);
    for (const label of labels) {
      const { x, y, z, ax, ay } = label.of, at = seen([x, y, z]), end = [at[0] + ax, at[1] + ay];
      Object.assign(label.style, { left: `${end[0]}px`, top: `${end[1]}px` });
      set(label.leader, { x1: at[0], y1: at[1], x2: end[0], y2: end[1] });
    }

    const common = commonOf(point).map(fromDisc);
    point.forms.forEach((q, k) => {
      const marks = onCircle(q).map(fromDisc), group = box.chords[k], size = k ? 14 : 8;
      group.replaceChildren();
      if (marks.length === 2) draw(group, "line", { x1: marks[0][0], y1: marks[0][1], x2: marks[1][0], y2: marks[1][1] });
      for (const [x, y] of marks) draw(group, "rect", { x: x - size / 2, y: y - size / 2, width: size, height: size, rx: k ? 0 : size / 2, "stroke-dasharray": "none" });
      const other = marks.filter((mark) => common.every((one) => away2(mark, one) > 4))[0];
      others[k].style.display = other ? "" : "none";
      if (other) set(others[k], { cx: other[0], cy: other[1] });
    });
    if (common.length) {
      ring.to(common[0], `m = ${(point.roots.length ? 1 / Math.tan(point.roots[0] / 2) : 0).toFixed(2)}`);
      const [x, y] = common[0], up = y <= box.middle[1] ? -1 : 1;
      set(box.common, { x: max(x, box.left + 30), y: y + up * (2.2 * sizes.marker + 4) + (up > 0 ? 0.7 * sizes.note : 0) });
    } else ring.hide();
    twin.style.display = common.length > 1 ? "" : "none";
    if (common.length > 1) set(twin, { cx: common[1][0], cy: common[1][1] });
    box.common.textContent = common.length ? KINDS[point.kind] : "";

    sets.replaceChildren();
    const x = box.middle[0] + box.radius + 3.8 * sizes.note, wide = box.cell, high = 1.6 * sizes.note, all = point.preimages;
    const most = max(...all.flatMap(({ A, V }) => [...A.flat(), ...V].map(abs)), 1e-9), cells = { ...look, most };
    const say = (text, at, fill = colors.soft, weight = "normal") =>
      draw(sets, "text", { x: at[0], y: at[1], fill, "font-size": sizes.note, "font-weight": weight }).append(text);
    let y = box.middle[1] - box.radius - 0.5 * sizes.note;
    say(["no real weights", "one set of weights", "two sets of weights"][all.length], [x - 14, y], colors.ink, "bold");
    all.forEach(({ A, V }) => {
      y += 0.7 * high;
      say("A", [x - 14, y + high + 4]);
      matrix(sets, A, [x, y], [wide, high], cells);
      y += 2 * high + 4;
      say("V", [x - 14, y + 0.5 * high + 4]);
      matrix(sets, [V], [x, y], [wide, high], cells);
      y += 1.1 * high;
    });
    if (!all.length) say("the two are complex", [x - 14, y + high]);

    const isExact = same(meta.place, place);
    (host.closest(".nv, .nv-panel") ?? host).classList.toggle("nv-ahead", !isExact);
    note.textContent = !space.isThere ? "No 3-D picture: this browser has no WebGL."
      : talk.isAlone && !isExact ? "what is dimmed only Python says: open the notebook for it"
        : isNewHere ? "drag the ring, drag a root, turn the surface" : "";
  }

  drag(canvas, host, {
    begin: (at) => { canvas.from = at; canvas.focus({ preventScroll: true }); },
    move: (at, [x, y]) => { space.turn(x, y); canvas.last = at; frame ||= requestAnimationFrame(paint); },
    end: () => {
      const at = canvas.last ?? canvas.from;
      canvas.last = null;
      if (away2(at, canvas.from) > 3) return;
      const found = placeAt([at[0] - box.side, at[1] - box.top], true); // a click: what is in front there
      if (found) { hold(); go(found); release(); }
    },
  });
  keys(canvas, (x, y) => { space.turn(-8 * x, -8 * y); frame ||= requestAnimationFrame(paint); });
  const undo = talk.heard(follow);

  return {
    show(data, next, wide) {
      const before = meta;
      [layout, meta] = [next, next.meta];
      const isNew = before?.local !== meta.local;
      if (isNew) {
        slice = sliceOf(meta.local);
        grids = gridsOf(meta.local);
      }
      const looks = JSON.stringify([meta.look, wide, layout.height, (layout.scene.annotations ?? []).slice(1)]);
      if (isNew || looks !== built) {
        built = looks;
        [width, height] = [wide, layout.height];
        build();
      }
      if (seenAs !== layout.scene.uirevision) space.camera = cameraOf(layout.scene.camera);
      seenAs = layout.scene.uirevision; // while it stays, the camera stays where the reader turned it
      const { focus, ground } = meta.look.colors;
      // The point and its ruling are drawn from here: a ball and a rod that are moved.
      const meshes = data.filter((trace) => trace.type === "mesh3d" && trace.meta !== "local");
      host.solids ??= {};
      const solids = (host.solids[focus] ??= [rod(focus), ball(focus)]);
      space.show([...solids, ...meshes], ground);
      const says = layout.annotations.map(({ text }) => text);
      [0, 1, 2, 3].forEach((number) => { if (words[number].innerHTML !== says[number]) words[number].innerHTML = says[number]; });
      if (!place || isNew) show(here());
      else follow();
      frame ||= requestAnimationFrame(paint);
    },
    close() {
      undo();
      stopTween();
      play?.stop();
      cancelAnimationFrame(frame);
      space.forget();
    },
  };
}

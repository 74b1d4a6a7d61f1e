// The singular surface, to take hold of: turn it, drag the point on it, or a root on the circle, and both follow.
import { abs, drag, draw, handle, hypot, matrix, max, min, number, placeOf, player, round, set, stand, write } from "../../kit/javascript/scene.js";
import { ball, ballAt, rod, rodFrom, viewIn } from "../../kit/javascript/space.js";
import { onCircle, sliceOf } from "./surface_point.js";

const STEPS = 20; // along a ruling, of the triangles that the pointer is looked for in
const NEAR = 9, LEAVES = 18; // pixels: how near to the singular curve the point snaps to it, and lets go
const BEYOND = 0.07, BALL = 0.07, ROD = 0.022; // as in surface_panel.py
const away3 = (a, b) => hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const away2 = (a, b) => hypot(a[0] - b[0], a[1] - b[1]);
const KINDS = {
  smooth: "common root", crossing: "both roots common", boundary: "common root", "closure only": "common pair, not real",
};

export function surface(host, talk) {
  let slice, grids, meta, layout, width = 0, height = 0, box, point, frame = 0, built = "", isNewHere = true;
  let words = [], grip, ring, twin, others = [], play, note, solids, paintedIn;
  const over = draw(host, "svg");
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const soon = () => { frame ||= requestAnimationFrame(paint); };
  const clicked = (pixel) => { const found = placeAt(pixel, true); if (found) go(found); }; // what is in front there
  const view = viewIn(host, over, { name: "the surface", changed: soon, clicked }), { space } = view;
  const disc = draw(over, "g"), sets = draw(over, "g"), hooks = draw(over, "g");
  const where = placeOf(talk, () => meta, (place) => { point = slice.pointAt(place); soon(); });

  function go(found) {
    where.go(found.moves === "curve" ? { ...found, along: where.here.along } : found);
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

  // `seenAt` says where the points of the curve are, as `target` is: on the screen, or in space.
  function nearestOnCurve(target, seenAt = space.project) {
    let best = { away: Infinity };
    const minus = (a, b) => a.map((t, i) => t - b[i]), dot = (a, b) => a.reduce((sum, t, i) => sum + t * b[i], 0);
    slice.pieces.forEach((piece, index) => {
      let before = null;
      for (let row = 0; row < piece.points.length / 3; row++) {
        const drawn = slice.inDrawing([0, 1, 2].map((i) => piece.points[3 * row + i])), seen = seenAt(drawn);
        if (before) {
          const way = minus(seen, before.seen), share = max(0, min(1, dot(minus(target, before.seen), way) / (dot(way, way) || 1)));
          const away = hypot(...minus(target, before.seen.map((t, i) => t + share * way[i])));
          if (away < best.away) {
            // Half a step from its ends, as rounding may lead to the next piece, which begins elsewhere.
            const run = slice.runs[index], [first, last] = [0, 1].map((end) => slice.starts[index + end] / slice.length);
            const at = first + (run[row - 1] + share * (run[row] - run[row - 1])) / slice.length, half = meta.ranges.where[2] / 2;
            best = { away, drawn, where: max(first + half, min(last - half, at)) };
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
    const place = where.here, onCurve = place.moves === "curve", curve = nearestOnCurve(pixel), found = hits(pixel);
    const by = front ? (hit) => hit.depth : (hit) => away3(hit.drawn, point.drawn);
    const hit = found.length ? found.reduce((a, b) => (by(b) < by(a) ? b : a)) : null;
    const joined = onCurve || !hit || away3(curve.drawn ?? [9, 9, 9], hit.drawn) < 0.4;
    if (curve.away < (onCurve && !front ? LEAVES : NEAR) && joined) return { moves: "curve", where: curve.where };
    if (hit) return hit.place;
    if (front) return null;
    const edge = nearestOnEdge(pixel);
    return curve.away < edge.away ? { moves: "curve", where: curve.where } : edge.place;
  }

  // By the keyboard from the surface to the singular curve beside the point, and back to where it was.
  let left = null;
  function change() {
    const pixel = view.pixel(view.seen(point.drawn)), isOnCurve = where.here.moves === "curve", found = hits(pixel);
    const came = left;
    left = null;
    if (isOnCurve && came?.to === where.here.where) return go(came.from);
    const nearest = (all) => all.reduce((a, b) => (away3(b.drawn, point.drawn) < away3(a.drawn, point.drawn) ? b : a)).place;
    if (isOnCurve) go(found.length ? nearest(found) : nearestOnEdge(pixel).place);
    else if (slice.pieces.length) {
      const from = where.here;
      go({ moves: "curve", where: nearestOnCurve(point.drawn, (drawn) => drawn).where });
      left = { from, to: where.here.where };
    }
  }

  // --- the roots ---------------------------------------------------------------------------------------

  const onRim = (phi) => [Math.cos(phi), Math.sin(phi)];
  const commonOf = (p) => (p.roots.length ? p.roots.map(onRim) : onCircle(p.forms.find((q) => q.some((t) => t)) ?? p.forms[0]));

  // Where a root is for another place on the same sheet or curve: the common one, or the other one of a form.
  function markAt(share, form, target) {
    const place = where.here, isOnCurve = place.moves === "curve" && slice.pieces.length;
    if (form === null && !isOnCurve) return onRim(2 * slice.ruling(share).theta);
    const p = slice.pointAt({ ...place, where: share }), common = commonOf(p);
    const marks = form === null || isOnCurve ? common : onCircle(p.forms[form]);
    if (!marks.length) return null;
    const by = form === null || isOnCurve ? (m) => away2(m, target) : (m) => -away2(m, common[0]);
    return marks.reduce((a, b) => (by(b) < by(a) ? b : a));
  }

  function dragRoot(form, target) {
    const start = where.here.where;
    const cost = (share) => {
      const mark = markAt(share, form, target);
      return mark ? away2(mark, target) + 0.1 * abs(share - start) : Infinity;
    };
    let best = start, least = cost(best);
    const around = (middle, reach, count) => {
      for (let n = -count; n <= count; n++) {
        const share = max(0, min(1, middle + (reach * n) / count)), value = cost(share);
        if (value < least) [best, least] = [share, value];
      }
    };
    around(0.5, 0.5, 50);
    around(best, 0.01, 10);
    go({ where: best });
  }

  // --- the picture -------------------------------------------------------------------------------------

  function build() {
    for (const group of [disc, sets, hooks]) group.replaceChildren();
    for (const one of [...words, ...(play ? [play.button, note] : [])]) one.remove();
    const { look } = meta, { sizes, colors } = look, side = 16, top = round(2.2 * sizes.title), column = max(22 * sizes.note + 60, 0.32 * (width - 2 * side));
    const left = width - side - column, tall = height - top - 12;
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink });
    Object.assign(host.style, { position: "relative", fontFamily: look.font, fontSize: `${sizes.note}px`, lineHeight: 1.35 });
    set(over, { width, height });
    view.place({ left: side, top, wide: left - 2 * side, tall }, layout.scene, look);
    box = { side, top, left };

    const line = { fontSize: `${sizes.title}px`, lineHeight: 1.2 }, soft = { color: colors.soft };
    words = [
      write(host, { left: `${side}px`, top: "6px", maxWidth: `${left - side - 8}px`, ...line }),
      write(host, { left: `${left}px`, top: "6px", ...line }),
      write(host, { left: `${left}px`, top: `${top}px`, ...soft }),
      write(host, { left: `${left}px`, bottom: "12px", fontSize: `${sizes.note + 1}px`, whiteSpace: "nowrap" }),
    ];
    words.forEach((one, number) => { one.style.pointerEvents = "none"; if (number % 2) one.classList.add("nv-exact"); });

    // Between the key and the four lines below, with room for the words at a root; and beside the weights.
    const low = top + 1.45 * layout.annotations[2].text.split("<br>").length * sizes.note, under = 12 + 5.4 * (sizes.note + 1);
    const room = height - 8 - under - 3 * sizes.note - low, cell = 3.2 * sizes.note;
    const radius = min(room / 2 - 6, (column - 2 * cell - 4 * sizes.note - 24) / 2);
    Object.assign(box, { radius, cell, low: height - under, middle: [left + radius + 24, low + 1.5 * sizes.note + 6 + radius] });
    draw(disc, "circle", { cx: box.middle[0], cy: box.middle[1], r: radius, fill: colors.wash, stroke: colors.axis, "stroke-width": 2 });
    box.chords = [0, 1].map((k) => draw(disc, "g", { stroke: k ? colors.soft : colors.ink, "stroke-width": sizes.line, fill: k ? "none" : colors.ink }));
    set(box.chords[1], { "stroke-dasharray": "7 5" });
    box.common = draw(disc, "text", { fill: colors.focus, "font-size": sizes.note, "text-anchor": "middle" });

    const range = () => where.range("where"), key = (go1, go2) => ({ color: colors.focus, begin: hold, end: release, scene: host, keyed: go1, moved: go2 });
    others = [0, 1].map((k) => {
      const node = draw(hooks, "circle", { r: 12, fill: "transparent" });
      node.style.cssText = "pointer-events: all; cursor: grab";
      drag(node, host, { begin: hold, end: release, move: (at) => dragRoot(k, toDisc(at)) });
      return node;
    });
    ring = handle(hooks, { name: "the common root", range, ring: 1.5 * sizes.marker, ...key((x, y) => go({ where: where.here.where + 0.01 * (x || y) }), (at) => dragRoot(null, toDisc(at))) });
    twin = draw(hooks, "circle", { r: 1.5 * sizes.marker, fill: "transparent", stroke: colors.focus, "stroke-width": 3 });
    twin.style.cssText = "pointer-events: all; cursor: grab";
    drag(twin, host, { begin: hold, end: release, move: (at) => dragRoot(null, toDisc(at)) });
    grip = handle(hooks, { name: "the point", ring: 1.3 * sizes.marker, ...key(
      (x, y) => {
        const { moves, where: share, along } = where.here;
        go(moves === "curve" ? { where: share + 0.005 * (x || y) } : { where: share + 0.005 * x, along: along + 0.03125 * y });
      },
      (at) => { const found = placeAt(view.pixel(at)); if (found) go(found); },
    ), range, isFlat: true, pressed: change });
    play = player(host, { left: `${side}px`, bottom: "2px" }, {
      name: slice.pieces.length ? "walk along the singular curve" : "walk over all lines", seconds: 9,
      from: () => {
        const { moves, where: share } = where.here, come = slice.pieces.length ? (moves === "curve" ? 1 - share : 0) : share;
        return come > 0.95 ? 0 : come;
      },
      walk: (share) => go(slice.pieces.length ? { moves: "curve", where: 1 - share } : { moves: "surface", where: share }),
    });
    Object.assign(play.button.style, { background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}` });
    note = write(host, { left: `${side + 40}px`, bottom: "0", color: colors.soft, lineHeight: 1.1, pointerEvents: "none" });
  }

  const toDisc = ([x, y]) => [(x - box.middle[0]) / box.radius, (box.middle[1] - y) / box.radius];
  const fromDisc = ([x, y]) => [box.middle[0] + box.radius * x, box.middle[1] - box.radius * y];
  const hold = () => { isNewHere = false; play.stop(); where.hold(); };
  const release = () => where.release();

  function paint() {
    frame = 0;
    if (!point || !width) return;
    const { look } = meta, { colors, sizes } = look;
    const models = {}, ends = point.ruling?.map(slice.inDrawing);
    if (ends) {
      const way = ends[1].map((t, i) => t - ends[0][i]), size = hypot(...way) || 1, more = way.map((t) => (BEYOND * t) / size);
      models[0] = rodFrom(ends[0].map((t, i) => t - more[i]), ends[1].map((t, i) => t + more[i]), ROD);
    } else models[0] = null;
    models[1] = ballAt(point.drawn, BALL);
    view.paint(models);
    const { moves, where: share, along } = where.here, kind = point.kind === "smooth" ? "a smooth point" : point.kind;
    grip.to(view.seen(point.drawn), share, `${moves === "curve" ? `${number(share)} along the curve` : `line ${number(share)}, ${number(along)} along it`}: ${kind}`);

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
      ring.to(common[0], where.here.where, point.roots.length ? `m = ${number(1 / Math.tan(point.roots[0] / 2))}` : "not real");
      const x = common.reduce((sum, one) => sum + one[0] / common.length, 0), [, y] = common[0], up = y <= box.middle[1] ? -1 : 1, beside = 1.5 * sizes.marker + 5, rim = box.middle[1] + up * (box.radius + 5);
      const half = 0.27 * sizes.note * KINDS[point.kind].length, most = box.middle[0] + box.radius + 3.8 * sizes.note - 20 - half; // beside the weights
      set(box.common, { x: max(box.left + half, min(x, most)), y: up < 0 ? min(y - beside, rim) : max(y + beside, rim) + 0.75 * sizes.note }); // off the rim
    } else ring.hide();
    twin.style.display = common.length > 1 ? "" : "none";
    if (common.length > 1) set(twin, { cx: common[1][0], cy: common[1][1] });
    box.common.textContent = common.length ? KINDS[point.kind] : "";

    sets.replaceChildren();
    const x = box.middle[0] + box.radius + 3.8 * sizes.note, wide = box.cell, all = point.preimages;
    const most = max(...all.flatMap(({ A, V }) => [...A.flat(), ...V].map(abs)), 1e-9), cells = { ...look, most };
    const say = (text, at, fill = colors.soft, weight = "normal") =>
      draw(sets, "text", { x: at[0], y: at[1], fill, "font-size": sizes.note, "font-weight": weight }).append(text);
    let y = box.middle[1] - box.radius - 0.5 * sizes.note;
    const high = min(1.6 * sizes.note, (box.low - y - 8) / 7.8); // of a cell: two sets have room
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

    stand(host, note, where.isExact, talk.isAlone, space.isThere, isNewHere ? `drag the ring, drag a root, turn the surface${slice.pieces.length ? "; Enter takes the ring to the curve" : ""}` : "");
  }

  const undo = talk.heard(() => where.follow());

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
      const { focus, ground } = meta.look.colors;
      // The point and its ruling are drawn from here: a rod and a ball that are moved.
      if (paintedIn !== focus) [solids, paintedIn] = [[rod(focus), ball(focus)], focus];
      view.show([...solids, ...data.filter((trace) => trace.type === "mesh3d" && trace.meta !== "local")], layout.scene, ground);
      const says = layout.annotations.map(({ text }) => text);
      words.forEach((one, number) => { if (one.innerHTML !== says[number]) one.innerHTML = says[number]; });
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

// A, Q and K, to take hold of: drag a number of Q or K, turn C by hand while A stands still, move A on its surface.
import { abs, drag, draw, handle, keys, max, min, number, PI, placeOf, player, round, set, stand, tween, write } from "../../kit/javascript/scene.js";
import { basisIn } from "../../kit/javascript/basis.js";
import { ball, ballAt, grid, rod, rodFrom, viewIn } from "../../kit/javascript/space.js";
import { asWords, entriesIn, factored, headsAt, metBy, mixed, norm, pointAt, ruling, startOf, transposed } from "./product.js";

const STEP = 0.05, PIXELS = 3, MOST = 9; // of an entry: what a few pixels change, and how far it goes
const REACH = 1.15, LINES = 16, THIN = 0.006, THICK = 0.017, WAY = 0.012, BALL = 0.085, FOOT = 0.045, TIP = 0.06; // as in cone.py
const NAMES = ["Q", "K"], PLANE = 124; // pixels of the plane in which C is seen

export function factors(host, talk) {
  let meta, layout, data, width = 0, height = 0, built = "", shape = "", frame = 0, isHeld = false, isNewHere = true, stop = () => {};
  let shown, study, box, words = [], cells = [], drops = [], grip, turner, play, note, said = "", sheet, sheetAt, solids, paintedIn;
  const over = draw(host, "svg");
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const soon = () => { frame ||= requestAnimationFrame(paint); };
  const view = viewIn(host, over, { name: "the surface", changed: soon }), { space } = view;
  const under = draw(over, "g"), table = draw(over, "g"), marks = draw(over, "g"), hooks = draw(over, "g");

  // What is shown goes to what a place asks for: at once under the hand, else in a moment.
  const where = placeOf(talk, () => meta, (place) => {
    const start = where.isExact ? meta.local.start : startOf(meta.local, place), { d, a } = meta.local, from = shown;
    study = factored(meta.local, place, start);
    stop();
    const put = (share) => {
      const between = (M, n) => (share < 1 ? mixed(from.start[n], M, share) : M);
      shown = { asked: place, size: `${d} ${a}`, start: start.map(between), here: share < 1 ? from.here + share * (study.here - from.here) : study.here };
      soon();
    };
    const isJump = !isHeld && from?.size === `${d} ${a}` && (from.asked.rank !== place.rank || from.asked.entries !== place.entries);
    if (isJump) stop = tween(put);
    else put(1);
  });
  const hold = () => { isHeld = true; isNewHere = false; play.stop(); where.hold(); };
  const release = () => { isHeld = false; said = ""; where.release(); soon(); };

  // An entry of the first Q and K, or of those now: then a whole column of the first ones, as C mixes its rows.
  const valueOf = ({ row, n, i, j }) => [study.start, study.now][row][n][i][j];
  function put(cell, value) {
    const { row, n, i, j, name } = cell, { rank, entries } = where.here, found = entriesIn(entries), all = [study.start, study.now][row];
    const next = max(-MOST, min(MOST, round(value / STEP) * STEP)), column = all[n].map((line, k) => [k === i ? next : line[j]]);
    const first = row ? (n ? transposed(study.C) : study.back).map((line) => line.reduce((sum, t, k) => sum + t * column[k][0], 0)) : column.flat();
    const isFreed = rank === NAMES[n]; // with a number of its own it has its rank again
    if (isFreed) NAMES.forEach((one, m) => study.start[m].forEach((line, k) => line.forEach((t, l) => found.set(`${one}${k + 1}${l + 1}`, t))));
    first.forEach((t, k) => { if (row || k === i) found.set(`${NAMES[n]}${k + 1}${j + 1}`, t); });
    isHeld = true; // no motion of its own: the hand moves it
    where.go({ entries: asWords(found), rank: isFreed ? "full" : rank });
    said = `${name}: ${number(valueOf(cell))}`;
  }

  function cellOf(parent, row, n, i, j) {
    const group = draw(parent, "g"), name = `${[...NAMES, "A", "C Q", "C⁻ᵀ K"][3 * row + n]}, row ${i + 1}, column ${j + 1}`;
    const cell = { group, row, n, i, j, name, ground: draw(group, "rect"), tint: draw(group, "rect"), text: draw(group, "text") };
    set(group, { "data-of": `${row}${n}` });
    if (n > 1) return cell; // of A: nobody takes hold of it
    set(group, { role: "spinbutton", "aria-label": name, "aria-valuemin": -MOST, "aria-valuemax": MOST });
    group.style.cssText = "pointer-events: all; cursor: ns-resize; outline: none !important"; // `paint` frames it
    let from = 0, far = 0;
    drag(group, host, {
      begin: () => { [from, far] = [valueOf(cell), 0]; hold(); group.focus({ preventScroll: true }); },
      move: (_, [, y]) => { far -= y; put(cell, from + STEP * round(far / PIXELS)); },
      end: release,
    });
    keys(group, (x, y) => {
      isNewHere = false;
      if (y) { put(cell, valueOf(cell) + 2 * STEP * y); isHeld = false; return; }
      const all = cells.filter((one) => one.row === row && one.n === n);
      all[(all.indexOf(cell) + Math.sign(x) + all.length) % all.length].group.focus();
    });
    set(group, { tabindex: i || j ? -1 : 0 });
    group.addEventListener("focus", () => { for (const one of cells) if (one.row === row && one.n === n) set(one.group, { tabindex: one === cell ? 0 : -1 }); soon(); });
    group.addEventListener("blur", soon);
    return cell;
  }

  // Where A, or the matrix of rank 1 nearest to it, is dragged to. For numbers set by hand only a = 1 leaves them no choice.
  const isFree = () => where.here.entries.trim() !== "";
  function move({ angle, height: z }) {
    const [turn, up] = [((angle % 360) + 360) % 360, z];
    if (!isFree()) return where.go({ angle: turn, height: up });
    const [Q, K] = headsAt(study.point.trace, turn, up), size = norm(study.start[1]) || 1, found = entriesIn("");
    [Q.map((row) => row.map((t) => t / size)), K.map((row) => row.map((t) => t * size))].forEach((M, n) => M[0].forEach((t, j) => found.set(`${NAMES[n]}1${j + 1}`, t)));
    where.go({ entries: asWords(found) });
  }
  function dragBall(at) {
    const { from, toward } = space.ray(view.pixel(at)), { unit, trace, angle, height: z } = study.point;
    move(metBy(from.map((t) => unit * t), toward, trace, pointAt(trace, angle, z), isFree() ? REACH * unit : 1));
  }

  function build() {
    for (const group of [under, table, marks, hooks]) group.replaceChildren();
    for (const one of [...words, ...drops, ...(play ? [play.button, note] : [])]) one.remove();
    const { look, local } = meta, { d, a } = local, { sizes, colors } = look, side = 16, top = round(2.2 * sizes.title), all = width - 2 * side, hasSurface = d === 2;
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink });
    Object.assign(host.style, { position: "relative", fontFamily: look.font, fontSize: `${sizes.note}px`, lineHeight: 1.35 });
    set(over, { width, height });
    const [left, middle, right] = (hasSurface ? [0.43, 0.475, 0.705] : [0.6, 0.63, 1]).map((share, n) => (n && side) + share * all), line = round(1.75 * sizes.base), low = height - 30;
    const title = { fontSize: `${sizes.title}px`, lineHeight: 1.2 }, half = top + 0.36 * (low - top) + 2.6 * sizes.base, strip = low - 1.4 * sizes.note;
    words = [[side], [middle], [middle, half], ...(hasSurface ? [[right]] : [])].map(([from, down = 6]) => write(host, { left: `${from}px`, ...title, top: `${down}px` }));
    if (hasSurface) words.push(write(host, { left: `${right}px`, top: `${top - 4}px` }));
    for (const one of words) { one.style.pointerEvents = "none"; one.classList.add("nv-exact"); }

    // Matrices: two rows of Q and K, and the one A; below it the plane in which C is seen.
    const gutter = 3.2 * sizes.note, gap = 18, room = left - gutter - 2 * gap, high = strip - 1.8 * sizes.note - top - 2 * line;
    const cell = Math.floor(min(hasSurface ? 46 : 60, high / (2 * a), (room - PLANE) / (2 * d), room / (3 * d), (low - top - 2 * line - 90) / d));
    const slot = max(d * cell, 1.4 * sizes.base + 5.2 * sizes.note), x = [0, 1, 2].map((n) => side + gutter + n * (slot + gap)), y = [top + line, top + 2 * line + a * cell];
    box = { cell, x, y, strip: { left: x[0], top: strip, wide: x[2] - gap - x[0] } };
    const say = (group, text, [u, v], look = {}) => { const one = draw(group, "text", { x: u, y: v, fill: colors.ink, "font-size": sizes.base, ...look }); one.textContent = text; return one; };
    cells = [0, 1].flatMap((row) => [0, 1, 2].slice(0, row ? 2 : 3).flatMap((n) => Array.from({ length: n > 1 ? d : a }, (_, i) => Array.from({ length: d }, (_, j) => {
      const one = cellOf(table, row, n, i, j), at = { x: x[n] + j * cell + 1, y: y[row] + i * cell + 1, width: cell - 2, height: cell - 2 };
      set(one.ground, { ...at, fill: colors.panel });
      set(one.tint, at);
      set(one.text, { x: at.x + at.width / 2, y: at.y + at.height / 2, fill: colors.ink, "font-size": sizes.note, "text-anchor": "middle", "dominant-baseline": "central", "pointer-events": "none" });
      return one;
    })).flat()));
    ["Q", "K", "A = KᵀQ", "C Q", "C⁻ᵀ K"].forEach((text, n) => say(table, text, [x[n % 3], y[+(n > 2)] - 8], { "font-weight": "bold" }));
    [["○", "start", colors.ink], ["●", "now", colors.focus]].forEach(([mark, text, fill], row) => {
      say(table, mark, [side, y[row] + sizes.base], { fill });
      say(table, text, [side, y[row] + 2.2 * sizes.base], { fill, "font-size": sizes.note });
    });
    box.frame = draw(table, "rect", { x: x[2] - 4, y: y[0] - 4, width: d * cell + 8, height: d * cell + 8, fill: "none", "stroke-width": 3, class: "nv-exact" });
    drops = NAMES.map((name, n) => {
      const one = write(host, { left: `${x[n] + 1.4 * sizes.base}px`, top: `${y[0] - line + 1}px` }, "", "button");
      set(one, { type: "button" });
      Object.assign(one.style, { padding: "0 6px", fontSize: `${sizes.note}px`, cursor: "pointer", background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}` });
      one.addEventListener("click", () => { isNewHere = false; where.go({ rank: where.here.rank === name ? "full" : name }); });
      return one;
    });

    const foot = y[0] + d * cell + line + 6;
    turner = basisIn(under, table, hooks, { walk: where.here.walk, a, look, where, box: { left: x[2], top: foot, wide: PLANE, tall: low - foot }, hook: { scene: host, begin: hold, end: release, keyed: () => { isNewHere = false; } } });

    // Two charts: the axes, marks and words of Python's.
    const charts = [["2", top + 4, half - 14 - 1.6 * sizes.base], ["3", half + 1.5 * sizes.title + 4, low - 1.2 * sizes.note]].map(([axis, from, to]) => {
      const [X, Y] = ["x", "y"].map((name) => layout[`${name}axis${axis}`]), start = middle + 2.4 * sizes.note, wide = right - 30 - start, soft = { fill: colors.soft, "font-size": sizes.note };
      const at = { x: (t) => start + (wide * (t - X.range[0])) / (X.range[1] - X.range[0]), y: (t, range = Y.range) => to - ((to - from) * (t - range[0])) / (range[1] - range[0]), from, to, start, wide };
      draw(under, "path", { d: `M${start},${from}V${to}H${start + wide}`, stroke: colors.axis, fill: "none" });
      for (const t of X.tickvals) say(under, t, [at.x(t), to + 1.2 * sizes.note], { ...soft, "text-anchor": "middle" });
      for (const t of Y.tickvals ?? []) say(under, t, [start - 4, at.y(t) + 4], { ...soft, "text-anchor": "end" });
      return at;
    });
    const [sigma, counts] = charts, { x: u, y: v } = counts, soft = { fill: colors.soft, "font-size": sizes.note };
    Object.assign(box, { sigma, counts });
    say(under, "σ(A)", [sigma.start + 6, sigma.from + 6], soft);
    say(under, "a", [counts.start + counts.wide + 4, counts.to + 1.2 * sizes.note], soft);
    draw(under, "path", { d: `M${counts.start},${v(d * d)}H${counts.start + counts.wide}M${u(d)},${counts.to}V${counts.from + sizes.note}`, stroke: colors.axis, "stroke-dasharray": "2 3", fill: "none" });
    say(under, "a = d", [u(d) + 4, counts.from + 1.9 * sizes.note], soft);
    say(under, "d²", [counts.start + 4, v(d * d) - 4], soft);
    say(under, "● matrices A  ■ fibre", [counts.start + 8, counts.from + 0.6 * sizes.note], soft);
    for (const [name, kind] of [["matrices", "circle"], ["fibre", "rect"]]) {
      const [formula, measured] = ["formula", "measured"].map((how) => data.find((one) => one.name === `${name}, ${how}`));
      const mark = (one, k, size, look) => set(draw(under, kind, look), kind === "circle" ? { cx: u(one.x[k]), cy: v(one.y[k]), r: size } : { x: u(one.x[k]) - size, y: v(one.y[k]) - size, width: 2 * size, height: 2 * size });
      draw(under, "polyline", { points: formula.x.map((t, k) => `${u(t)},${v(formula.y[k])}`).join(" "), fill: "none", stroke: colors.ink, "stroke-width": 1.2 });
      formula.x.forEach((_, k) => { mark(formula, k, sizes.marker / 2 + 2, { fill: colors.ground, stroke: colors.ink }); mark(measured, k, sizes.marker / 2 - 1, { fill: colors.measured }); });
    }

    const deep = top + 2.8 * sizes.note;
    box.space = { left: right, top: deep, wide: side + all - right, tall: height - deep - 4 };
    if (!hasSurface) view.hide();
    grip = hasSurface && handle(hooks, { name: "A on its surface", range: () => where.range("angle"), isFlat: true, ring: 1.3 * sizes.marker, color: colors.focus, scene: host, begin: hold, end: release, moved: dragBall,
      keyed: (u, v) => { isNewHere = false; const { angle, height: z } = study.point; move({ angle: angle + 2 * u, height: z + 0.02 * v }); } });
    play = player(host, { left: `${side}px`, bottom: "2px" }, {
      name: "walk along the fibre", seconds: 6, from: () => { const come = (where.here.along + 1) / 2; return come > 0.99 ? 0 : come; }, walk: (share) => where.go({ along: 2 * share - 1 }),
    });
    Object.assign(play.button.style, { background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}` });
    note = write(host, { left: `${side + 40}px`, bottom: "4px", color: colors.soft, lineHeight: 1.1, pointerEvents: "none" });
  }

  function paint() {
    frame = 0;
    if (!study || !width) return;
    const { look, local } = meta, { colors, sizes, diverging } = look, { d, a } = local, seen = factored(local, where.here, shown.start), { walk, along, rank } = where.here;
    if (shape !== walk) { shape = walk; build(); fill(); }
    // The matrices. What an entry of Q reaches in A is a column, of K a row.
    const held = cells.find(({ group }) => group === document.activeElement), most = [1.6 * max(1e-9, ...seen.start.flat(2).map(abs)), max(1e-9, ...seen.A[0].flat().map(abs))];
    const digits = box.cell >= 3 * sizes.note ? 2 : box.cell >= 2 * sizes.note ? 1 : 0;
    for (const one of cells) {
      const value = [seen.start, seen.now][one.row][one.n]?.[one.i][one.j] ?? seen.A[0][one.i][one.j], limit = most[+(one.n > 1)];
      const isReached = held && one.n > 1 && (held.n ? one.i : one.j) === held.j;
      const text = digits ? (abs(value) < 0.5 * 10 ** -digits ? "0" : value.toFixed(digits).replace("-", "−")) : "";
      if (one.text.textContent !== text) one.text.textContent = text;
      set(one.tint, { fill: diverging[value < 0 ? 0 : diverging.length - 1], "fill-opacity": (0.6 * min(1, abs(value) / limit)).toFixed(3) });
      set(one.tint, { stroke: isReached || one === held ? colors.focus : "none", "stroke-width": one === held ? 4 : 2 });
      if (one.n < 2) set(one.group, { "aria-valuenow": value.toFixed(2), "aria-valuetext": number(value) });
    }
    drops.forEach((one, n) => {
      const isLost = rank === NAMES[n], full = study.ranks[n];
      one.textContent = isLost ? `rank ${full} ↑` : `rank ${full} ↓`;
      one.disabled = !isLost && full === 0;
      set(one, { "aria-pressed": isLost, "aria-label": isLost ? `give ${NAMES[n]} its rank back` : `let ${NAMES[n]} lose a rank`, title: isLost ? "give it back" : "let it lose a rank" });
    });
    turner(seen.C, along);

    marks.replaceChildren();
    // What one takes hold of is seen: a number goes up and down.
    if (isNewHere && digits) for (const up of [-1, 1]) {
      const [u, v] = [box.x[0] + box.cell / 2, box.y[0] + box.cell / 2 + up * (sizes.note / 2 + 3)];
      draw(marks, "path", { d: `M${u - 5},${v}H${u + 5}L${u},${v + 5 * up}Z`, fill: colors.focus });
    }

    // The singular values, and where the fibre is larger.
    const top = max(...seen.spectra.flat(), 1e-9), level = [1, 1.5, 2, 3, 4, 6, 8, 10].map((t) => t * 10 ** Math.floor(Math.log10(top))).find((t) => t >= top), range = [-0.05 * level, 1.35 * level];
    const { sigma, counts } = box, text = (words, u, v, look) => { draw(marks, "text", { x: u, y: v, "font-size": sizes.note, fill: colors.soft, ...look }).textContent = words; };
    for (const t of [0, level]) text(+t.toPrecision(2), sigma.start - 4, sigma.y(t, range) + 4, { "text-anchor": "end" });
    seen.spectra.forEach((one, n) => one.forEach((t, i) => draw(marks, "circle", { cx: sigma.x(i + 1), cy: sigma.y(t, range), r: n ? sizes.marker / 2 : sizes.marker / 2 + 4, fill: n ? colors.focus : "none", stroke: n ? "none" : colors.ink, "stroke-width": 1.6 })));
    const all = 2 * a * d, usual = data.find(({ name }) => name === "fibre, measured").y[a - 1], size = sizes.marker + 3;
    for (const [t, rx] of [[all - shown.here, size], [shown.here, 0]])
      draw(marks, "rect", { x: counts.x(a) - size, y: counts.y(t) - size, width: 2 * size, height: 2 * size, rx, fill: "none", stroke: colors.focus, "stroke-width": 3 });

    // All directions of Q and K, and how many of them the fibre has.
    const [left, under, tall] = [box.strip.left, box.strip.top, sizes.note], one = min(2 * tall, box.strip.wide / all);
    const bar = (from, to, look) => draw(marks, "rect", { x: left + from * one, y: under, width: max(0, to - from) * one, height: tall, ...look });
    bar(0, min(usual, shown.here), { fill: colors.focus, "fill-opacity": 0.5 });
    bar(usual, shown.here, { fill: colors.focus });
    for (let n = 0, by = one > 5 ? 1 : all; n < all; n += by) bar(n, n + by, { fill: "none", stroke: colors.axis });
    text(`fibre here: ${study.here} of ${all} directions${study.here === usual ? "" : `, against ${usual}`}`, left, under - 6, { fill: colors.focus, "font-weight": "bold" });

    if (seen.point) paintSurface(seen.point);
    box.frame.setAttribute("stroke", layout.shapes[0].line.color);
    stand(host, note, where.isExact, talk.isAlone, !seen.point || space.isThere, said || (isNewHere ? "drag a number up or down; drag the ring of C: A stands still" : ""));
  }

  // The same rod and ball, moved.
  function paintSurface(point) {
    const { look, local: { a } } = meta, { colors } = look, isCone = study.point.trace === 0;
    if (box.isCone !== isCone) view.place(box.space, { annotations: layout.scene.annotations.map((one) => ({ ...one, visible: isCone })) }, look);
    box.isCone = isCone;
    const { unit } = point, trace = point.trace / unit, z = point.height / unit, place = point.place.map((t) => t / unit), foot = pointAt(trace, point.angle, z);
    // While it changes under the hand it has fewer corners.
    if (sheetAt !== `${trace} ${paintedIn}` || (sheet.isCoarse && !isHeld)) {
      sheet = grid(isHeld ? 12 : 24, isHeld ? 36 : 72, (t, phi) => pointAt(trace, (180 * phi) / PI, REACH * (2 * t - 1)), "");
      const { colorscale } = data.find(({ name }) => name === "rank ≤ 1");
      Object.assign(sheet, { intensity: sheet.z.map((t) => Math.tanh(4 * t)), cmin: -1, cmax: 1, colorscale, isCoarse: isHeld });
      sheetAt = `${trace} ${paintedIn}`;
    }
    const models = [undefined], traces = [sheet], add = (solid, model) => { traces.push(solid); models.push(model); };
    for (const turn of trace ? [1, -1] : [1]) for (let n = 0, most = trace ? LINES : 2 * LINES; n < most; n++) add(solids.line, rodFrom(...ruling(trace, (360 * n) / most, 0, turn, REACH), THIN));
    if (point.rank) for (const turn of [1, -1]) add(solids.rod, rodFrom(...ruling(trace, point.angle, z, turn, REACH), THICK));
    if (point.rank === 2) { add(solids.way, rodFrom(foot, place, WAY)); add(solids.ball, ballAt(foot, FOOT)); }
    if (trace === 0) add(solids.tip, ballAt([0, 0, 0], TIP));
    add(solids.ball, ballAt(place, BALL));
    view.show(traces, layout.scene, colors.ground);
    view.paint(models);
    if (isFree() && a > 1) grip.hide();
    else grip.to(view.seen(foot), point.angle.toFixed(0), `angle ${point.angle.toFixed(0)}°, height ${number(point.height)}`);
  }

  function fill() {
    const says = layout.annotations.filter(({ font }) => font.size === meta.look.sizes.title).concat(layout.annotations.slice(-1));
    words.forEach((one, n) => { if (one.innerHTML !== says[n].text) one.innerHTML = says[n].text; });
  }

  const undo = talk.heard(() => where.follow());
  return {
    show(traces, next, wide) {
      [data, layout, meta] = [traces, next, next.meta];
      const { d, a, base } = meta.local, { focus, ink, ruling: dark, singular } = meta.look.colors, looks = JSON.stringify([meta.look, wide, layout.height, d, a, base]);
      if (looks !== built) {
        [built, shape, width, height] = [looks, "", wide, layout.height];
        where.start();
      } else where.follow();
      // Of equal singular values another one may have gone.
      const local = study.start.flat(2);
      if (where.isExact && meta.local.start.flat(2).some((t, n) => abs(t - local[n]) > 1e-6)) where.start();
      if (paintedIn !== focus) [solids, paintedIn] = [{ line: { ...rod(dark), lighting: { ambient: 1, diffuse: 0 } }, rod: rod(focus), way: rod(ink), ball: ball(focus), tip: ball(singular) }, focus];
      if (shape) fill();
      soon();
    },
    close() {
      undo();
      stop();
      where.stop();
      play?.stop();
      cancelAnimationFrame(frame);
      space.forget();
    },
  };
}

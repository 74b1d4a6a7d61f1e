// A layer beside its fibre: drag the point (A, V) along the fibre, off it, and over to another branch.
import { partsIn } from "../../kit/javascript/parts.js";
import { abs, draw, handle, hypot, matrix, max, min, number, placeOf, player, set, stand, tween, write } from "../../kit/javascript/scene.js";
import { layerAt, walksOf } from "./fibre_places.js";

const SIDE = 16, NEAR = 7; // NEAR, in pixels: so near to a walk the point is on it
const MOVING = ["the swap", "the step off", "start", "now"]; // Python's traces in the plane that move, or lie above these
const mix = (a, b, share) => (typeof a === "number" ? a + share * (b - a) : Array.isArray(a) ? a.map((one, i) => mix(one, b[i], share))
  : Object.fromEntries(Object.keys(a).map((name) => [name, mix(a[name], b[name], share)])));

export function fibre(host, talk) {
  let meta, layout, data, local, walks, frame = 0, built = "", width = 0, height = 0, isNewHere = true, isOwn = false;
  let shown = null, stopTween = () => {}, point, play, note, other;
  const over = draw(host, "svg");
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const parts = partsIn(host, over), { inPlot } = parts, [still, exact, moving, hands] = [0, 1, 2, 3].map(() => draw(over, "g"));
  exact.classList.add("nv-exact");
  const soon = () => { frame ||= requestAnimationFrame(paint); };
  const where = placeOf(talk, () => meta, aim);
  const traceOf = (name) => data.find((one) => one.name === name);

  // What is shown; what jumps is followed on its way, and outputs that are equal stand still on it.
  function aim(place) {
    const next = layerAt(local, place), from = shown;
    stopTween();
    if (from && !isOwn && hypot(...next.at.map((t, i) => t - from.at[i])) > 0.3) stopTween = tween((share) => { shown = share === 1 ? next : mix(from, next, share); soon(); });
    else shown = next;
    soon();
  }

  function go(found) {
    isOwn = true;
    where.go(found);
    isOwn = false;
  }

  // The place whose point is nearest to the pointer: on a walk if that is near, else off the one that it is on.
  function moveTo(at) {
    const swap = !!local.swapped && where.here.swap, [least, most] = meta.ranges.off, [zero, one] = [[0, 0], [1, 1]].map((place) => inPlot("2", place));
    let best = {}, found = Infinity;
    for (const { place, base, aside } of walks) {
      const [x, y, u, v] = [...base, ...aside].map((t, k) => (k < 2 ? zero[k] - at[k] : 0) + t * (one[k % 2] - zero[k % 2])); // in pixels, from the pointer
      const isOther = place.swap !== swap, gap = hypot(x, y) + 2 * isOther;
      if (isOther && (gap >= NEAR || local.attention === "softmax")) continue;
      const off = gap < NEAR || hypot(u, v) < 1 ? 0 : max(least, min(most, -(x * u + y * v) / (u * u + v * v)));
      const cost = gap < NEAR ? gap - 2 * NEAR : hypot(x + off * u, y + off * v) + 2 * abs(off);
      if (cost < found) [best, found] = [{ ...place, off }, cost];
    }
    go(local.swapped ? best : { ...best, swap: where.here.swap });
  }

  // --- the picture: Python's parts, but for what moves -------------------------------------------------

  // Cells are squares, and as large as fits.
  function squared(next) {
    const share = ({ domain: [low, high] }) => high - low, wide = box().wide * share(next.xaxis), tall = box().tall * share(next.yaxis);
    const cell = min(wide / next.xaxis.range[1], tall / next.yaxis.range[0]);
    return { ...next, xaxis: { ...next.xaxis, range: [0, wide / cell] }, yaxis: { ...next.yaxis, range: [tall / cell, 0] } };
  }

  function box() {
    const top = layout.template.layout.margin.t;
    return { left: SIDE, wide: width - 2 * SIDE, top, tall: height - top - 12 - 2.3 * meta.look.sizes.note };
  }

  function drawMatrix(group, name, values) {
    const { x, y, zmax } = traceOf(name), [left, top] = inPlot("", [x[0], y[0]]), [right, low] = inPlot("", [x[1], y[1]]);
    matrix(group, values, [left, top], [right - left, low - top], { ...meta.look, most: zmax, hasNumbers: false });
  }

  function drawBars(group, { x, width: wide, marker }, outputs) {
    const [low, high] = layout.yaxis4.range, within = (t) => max(low, min(high, t));
    outputs[0].forEach((_, token) => outputs.forEach((row, k) => {
      const middle = x[token * outputs.length + k], [a, b] = inPlot("4", [middle - wide / 2, 0]), [c, d] = inPlot("4", [middle + wide / 2, within(row[token])]);
      draw(group, "rect", { x: a, y: min(b, d), width: c - a, height: abs(d - b), fill: marker.color, stroke: marker.line.color ?? "none", "stroke-width": marker.line.width });
      if (within(row[token]) === row[token]) return;
      // It goes on beyond the frame: an arrow, and how far; where the bar has no room for the number, beside it.
      const { colors, sizes } = meta.look, isUp = row[token] > 0, far = number(row[token]), hasRoom = c - a >= sizes.note, tip = [(a + c) / 2, d + (isUp ? 3 : -3)];
      const look = { "font-size": min(sizes.note, 0.9 * (c - a)), fill: colors.ground, "dominant-baseline": "central", "text-anchor": isUp ? "end" : "start", transform: `translate(${tip}) rotate(-90)` };
      draw(group, "text", look).append(!hasRoom ? (isUp ? "▶" : "◀") : isUp ? `${far} ▶` : `◀ ${far}`);
      if (!hasRoom) draw(group, "text", { x: c + 2, y: d + (isUp ? sizes.note : -4), fill: colors.focus, "font-size": sizes.note, stroke: colors.ground, "stroke-width": 3, "paint-order": "stroke" }).append(far);
    }));
  }

  function paint() {
    frame = 0;
    if (!shown || !width) return;
    const { now, outputs, base, at, outside } = shown, { colors, sizes } = meta.look, xy = (...places) => ({ x: places.map(([x]) => x), y: places.map(([, y]) => y) });
    moving.replaceChildren();
    const start = traceOf("start"), isSwapped = where.here.swap && local.swapped, marker = { ...traceOf("now").marker, color: outside ? colors.ground : colors.focus };
    const places = { "the swap": isSwapped ? xy([start.x[0], start.y[0]], base) : xy(), "the step off": xy(base, at), now: { ...xy(at), marker } };
    for (const name of MOVING) parts.drawTrace(moving, { ...traceOf(name), ...places[name] });
    const [x, y] = inPlot("2", at);
    if (outside) draw(moving, "text", { x, y: y - sizes.marker - 14, stroke: colors.ground, "stroke-width": 4, "paint-order": "stroke", fill: colors.focus, "font-size": sizes.note, "text-anchor": "middle" }).append("shadow");
    ["A, now", "V, now"].forEach((name, i) => drawMatrix(moving, name, now[i]));
    drawBars(moving, traceOf("φ(X), now"), outputs);
    drawBars(moving, traceOf("φ(X), start"), startOutputs());
    const said = where.here.off ? `${number(where.here.off)} off the walk` : "on the walk";
    point.to([x, y], where.here.along, `${number(at[0])} of A, ${number(at[1])} of V, ${said}`);
    say();
  }

  function say() {
    const isBranched = traceOf("the other branch, its shadow").x.length && local.walk === "rescale";
    const drag = `drag the point: along its walk, off it${isBranched ? ", over to the dashed curve" : ""}`;
    const beyond = isBranched ? "; Enter goes to the next arm" : "; Enter changes both signs";
    const room = other.offsetLeft - SIDE - 48;
    for (const hint of [drag + beyond, drag, "drag the point"]) { // what fits before the button
      stand(host, note, where.isExact, talk.isAlone, true, isNewHere ? hint : "");
      if (note.offsetWidth <= room) break;
    }
  }

  // At the start nothing is walked: of "zero" it is at 0 of its walk, as of the others.
  const startOutputs = () => layerAt(local, { along: 0, off: 0, swap: false, negative: false, input: where.here.input }).outputs;

  function build() {
    const { colors, sizes, font } = meta.look, [least, most] = meta.ranges.along, [, inputs] = meta.ranges.input;
    hands.replaceChildren();
    for (const one of play ? [play.button, note, other] : []) one.remove();
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink, position: "relative", fontFamily: font });
    set(over, { width, height });
    parts.place(layout, box());
    const keyed = (x, y) => { isNewHere = false; go({ along: where.here.along + 0.01 * x, off: where.here.off + 0.01 * y }); };
    const begin = () => { isNewHere = false; play.stop(); where.hold(); };
    // By the keyboard from arm to arm, over all branches.
    const pressed = () => {
      const ways = (local.swapped && local.attention !== "softmax" ? [false, true] : [false]).flatMap((swap) => [false, true].map((negative) => ({ swap, negative })));
      const at = ways.findIndex(({ swap, negative }) => negative === where.here.negative && swap === (!!local.swapped && where.here.swap));
      const { swap, negative } = ways[(at + 1) % ways.length];
      go(local.swapped ? { swap, negative } : { negative });
    };
    point = handle(hands, { name: "the point (A, V)", range: () => where.range("along"), isFlat: true, ring: sizes.marker + 5, color: colors.focus, scene: host, begin, end: where.release, moved: moveTo, keyed, pressed });
    const from = () => (where.here.along > most - 0.01 ? 0 : (where.here.along - least) / (most - least));
    play = player(host, { left: `${SIDE}px`, bottom: "2px" }, { name: "walk along", seconds: 6, from, walk: (share) => go({ along: least + share * (most - least), off: 0 }) });
    note = write(host, { left: `${SIDE + 40}px`, bottom: "4px", whiteSpace: "nowrap", color: colors.soft, fontSize: `${sizes.note}px`, pointerEvents: "none" });
    const button = { background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}` };
    other = write(host, { left: `${parts.along("x", "x4 domain", 0)}px`, bottom: "2px", height: "26px", cursor: "pointer", fontSize: `${sizes.note}px`, ...button }, "another input X", "button");
    set(other, { type: "button" });
    other.addEventListener("click", () => go({ input: (where.here.input % inputs) + 1 }));
    Object.assign(play.button.style, button);
  }

  const undo = talk.heard(() => where.follow());
  return {
    show(traces, next, wide) {
      const isNew = local !== next.meta.local, looks = JSON.stringify([next.meta.look, wide, next.height]);
      [data, meta, layout, width, height] = [traces, next.meta, next, wide, next.height];
      layout = squared(next);
      if (isNew) [local, walks, shown, isNewHere] = [meta.local, walksOf(meta.local, meta.ranges.along), null, true];
      if (isNew || looks !== built) {
        built = looks;
        play?.stop();
        parts.place(layout, box());
        build();
        where.start();
        still.replaceChildren();
        for (const trace of data) if (trace.xaxis === "x2" && !MOVING.includes(trace.name)) parts.drawTrace(still, trace);
        for (const name of ["A, start", "V, start"]) drawMatrix(still, name, traceOf(name).z);
      } else where.follow();
      const { colors } = meta.look, isFrame = ({ line }) => line.color === colors.certified;
      const isOfPlace = ({ text, xref }) => xref.startsWith("x3") || /^<b>(other|the start|outputs)|^[×÷]/.test(text);
      const annotations = layout.annotations.filter(({ text, xref, font, textangle }) => !textangle && !(xref === "x2" && font?.color === colors.focus && (text === "" || text === "shadow")));
      parts.show([], { ...layout, annotations, shapes: layout.shapes.filter((one) => !isFrame(one)) }, meta.look, isOfPlace);
      exact.replaceChildren();
      for (const trace of data) if (trace.xaxis === "x3") parts.drawTrace(exact, trace);
      for (const { x0, x1, y0, y1, line } of layout.shapes.filter(isFrame)) {
        const [[a, b], [c, d]] = [inPlot("4", [x0, y1]), inPlot("4", [x1, y0])];
        draw(exact, "rect", { x: a, y: b, width: c - a, height: d - b, fill: "none", stroke: line.color, "stroke-width": line.width });
      }
      say();
    },
    close() {
      undo();
      where.stop();
      stopTween();
      play?.stop();
      cancelAnimationFrame(frame);
    },
  };
}

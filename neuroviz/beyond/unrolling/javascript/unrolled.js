// The unrolled network: click a factor or drag along them, see which tokens it joins, and drag a part of the term over.
import { partsIn } from "../../../kit/javascript/parts.js";
import { abs, cos, drag, draw, handle, keys, max, min, PI, placeOf, round, set, stand, tween, write } from "../../../kit/javascript/scene.js";
import { factorsOf, termAt } from "./term.js";

const X = [0.095, 0.895], LABELLED = 3, BAR = 1.72; // as in figure.py
const LOW = "₀₁₂₃₄", HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const nameOf = ({ layer, isTransposed }) => `M${LOW[layer]}${isTransposed ? "ᵀ" : ""}`;
const barAt = (place) => 2 * place - 0.5, tokenAt = (index) => 2 * index - 1.5;

// Three digits, and 0 for what rounding leaves of it.
function said(value) {
  if (abs(value) < 1e-12) return "0";
  const [mantissa, exponent] = value.toExponential(2).split("e").map(Number);
  const powers = String(exponent).replace("-", "⁻").replace(/\d/g, (digit) => HIGH[digit]);
  return (exponent >= -3 && exponent <= 4 ? value.toFixed(max(0, 2 - exponent)) : `${mantissa.toFixed(2)}·10${powers}`).replace("-", "−");
}

export function unrolled(host, talk) {
  let meta, layout, data, local, term, rows, width = 0, height = 0, frame = 0, built = "", isNewHere = true, turn = null, isHeld = false, stop = () => {}, grip, group, note;
  const over = draw(host, "svg");
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const parts = partsIn(host, over), { inPlot } = parts, tree = draw(over, "g"), strip = draw(over, "g"), hands = draw(over, "g"), defs = draw(over, "defs");
  const soon = () => { frame ||= requestAnimationFrame(paint); };
  // What is turned round goes over to the other side, and back.
  const where = placeOf(talk, () => meta, (place) => {
    if (place.place > factorsOf(local.layers).length) return; // of more layers: their figure comes next
    term = termAt(local, place);
    turn ??= +place.reflect;
    if (!isHeld) turnTo(local.isOfTwo ? 0 : +place.reflect);
    soon();
  });
  function turnTo(to) {
    const from = turn;
    stop();
    if (from !== to) stop = tween((share) => { turn = from + share * (to - from); soon(); });
  }
  const go = (found) => { isNewHere = false; where.go(found); };
  const hold = () => { isNewHere = false; where.hold(); };
  const pick = (place) => { if (!local.isOfTwo) go({ place: max(1, min(term.factors.length, place)) }); };
  const leafAt = (leaf) => inPlot("", [leaf, 0])[0];
  const nodes = () => { const { x, y, customdata, marker } = data.find(({ name }) => name === "layers"); return x.map((at, n) => ({ at: [at, y[n]], place: +/\d+$/.exec(customdata[n])[0], size: marker.size[n] })); };

  function placeAll(next) {
    const { t } = next.template.layout.margin, { note: unit, title } = meta.look.sizes, low = height - 14;
    const isTight = 18 * unit > 0.7 * height, high = (isTight ? 2 : 2.4) * unit; // large words: the rows leave the tree its room
    const [tokensAfter, barsAfter, valuesAfter, middle, values, bars, tokens] = (isTight ? [1.1, 2.2, 5, 6.4, 7.8, 8.4, 11.5] : [1.1, 2.3, 5.6, 7.9, 10.2, 10.9, 14.4]).map((up) => low - up * unit);
    rows = { tokens, values, middle, bars: bars - high, high, valuesAfter, barsAfter: barsAfter - high, tokensAfter };
    const strip = tokens - 1.2 * unit, floor = strip - (isTight ? 1.6 : 2) * title, share = (y) => (low - y) / (low - t);
    layout = { ...next, shapes: [], xaxis: { ...next.xaxis, domain: X }, yaxis: { ...next.yaxis, domain: [share(floor), 1] }, xaxis2: { ...next.xaxis2, domain: X }, yaxis2: { ...next.yaxis2, domain: [0, share(strip)] } };
    parts.place(layout, { left: 16, wide: width - 32, top: t, tall: low - t });
    // The headline of the strip is Python's; its other words are drawn with what they say.
    layout.annotations = next.annotations.filter(({ yref, font }) => !yref.startsWith("y2") || font?.size === title);
    parts.show([], layout, meta.look, ({ yref }) => yref.startsWith("y2"));
  }

  function build() {
    const { colors, sizes, font } = meta.look, { marker } = data.find(({ name }) => name === "factors"), wide = leafAt(BAR) - leafAt(0);
    hands.replaceChildren();
    note?.remove();
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink, position: "relative", fontFamily: font });
    set(over, { width, height });
    // All factors are one thing to take hold of: the place k.
    group = set(draw(hands, "g"), { role: "slider", "aria-label": "place k", "aria-valuemin": 1, "aria-valuemax": marker.color.length });
    group.style.cssText = "pointer-events: all; cursor: pointer; outline-offset: 3px";
    draw(group, "rect", { x: leafAt(barAt(1)) - wide / 2, y: rows.bars, width: leafAt(barAt(marker.color.length)) - leafAt(barAt(1)) + wide, height: rows.high, fill: "transparent" });
    for (const { at, place } of nodes()) {
      const [cx, cy] = inPlot("", at), node = draw(group, "circle", { cx, cy, r: 13, fill: "transparent" });
      node.addEventListener("pointerdown", () => pick(place));
    }
    const near = ([x, y]) => { if (y > rows.bars - 6) pick(round(((x - leafAt(0)) / (leafAt(1) - leafAt(0)) + 0.5) / 2)); };
    drag(group, host, { begin: (at) => { hold(); near(at); }, move: near, end: where.release });
    group.addEventListener("pointerdown", (event) => event.preventDefault()); // no frame by the pointer
    keys(group, (x, y) => pick(where.here.place + (x || y)));
    grip = handle(hands, {
      name: "turn the window round", range: () => [0, 1], ring: local.layers <= LABELLED ? 9 : 5, color: colors.focus, scene: host, begin: () => { isHeld = true; stop(); hold(); },
      moved: ([, y]) => { turn = max(0, min(1, (y - rows.tokens) / (rows.tokensAfter - rows.tokens))); soon(); },
      end: () => { isHeld = false; where.release(); where.go({ reflect: turn > 0.5 }); turnTo(+where.here.reflect); },
      keyed: (x, y) => go({ reflect: (x || -y) > 0 }),
    });
    note = write(host, { left: "16px", bottom: "1px", color: colors.soft, fontSize: `${sizes.note}px`, lineHeight: 1.1, pointerEvents: "none" });
    defs.replaceChildren();
    const hatch = draw(defs, "pattern", { id: "nv-turned", width: 9, height: 9, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    draw(hatch, "rect", { width: 1.8, height: 9, fill: colors.ink, "fill-opacity": 0.5 });
  }

  // A term in its row: bars, their names and numbers; `marked` are numbers that are new.
  function drawTerm({ indices, start, values, value }, [top, low], opacity, marked) {
    const { colors, sizes } = meta.look, { factors, focus } = term, isLabelled = local.layers <= LABELLED, box = draw(strip, "g", { opacity });
    const { color: fills } = data.find(({ name }) => name === "factors").marker, { color: letters } = data.find(({ name }) => name === "names").textfont, { high } = rows, wide = leafAt(BAR) - leafAt(0);
    const text = (words, x, y, look) => { draw(box, "text", { x, y, "text-anchor": "middle", "dominant-baseline": "central", "font-size": sizes.note, fill: colors.ink, ...look }).textContent = words; };
    const bold = { "font-size": sizes.base, "font-weight": "bold" }, head = leafAt(0) - min(14, 0.35 * (leafAt(1) - leafAt(0)));
    text("L", head, top + high / 2, bold);
    factors.forEach((factor, n) => {
      const at = leafAt(barAt(n + 1)), isHere = n + 1 === focus, look = { x: at - wide / 2, y: top, width: wide, height: high };
      draw(box, "rect", { ...look, fill: fills[n] });
      if (factor.isTransposed) draw(box, "rect", { ...look, fill: "url(#nv-turned)" });
      draw(box, "rect", { ...look, fill: "none", stroke: colors[isHere ? "focus" : "ink"], "stroke-width": isHere ? sizes.line + 1.5 : 1 });
      if (!isLabelled) return;
      if (factor.isTransposed) draw(box, "rect", { x: at - sizes.base, y: top + 3, width: 2 * sizes.base, height: high - 6, fill: fills[n] });
      text(nameOf(factor), at, top + high / 2, { ...bold, fill: letters[n + 1] });
      text(said(values[n]), at, low, n + 1 === marked ? { fill: colors.focus, "font-weight": "bold" } : {});
    });
    if (isLabelled) text(said(start), head, low);
    text(`= ${said(value)}`, 16 + X[1] * (width - 32), isLabelled ? low : top + high / 2, { ...bold, "text-anchor": "start" });
  }

  // The tokens of the window are on their way over; the others stand in both rows.
  function drawTokens(indices, y, y2, opacity, angle) {
    const { colors, sizes } = meta.look, { window: [from, to], focus } = term, { isOfTwo, layers } = local, isLabelled = layers <= LABELLED, axis = leafAt(barAt(where.here.place));
    const xs = indices.map((_, n) => { const x = leafAt(tokenAt(n + 1)); return !isOfTwo && n + 1 >= from && n + 1 <= to ? axis + (x - axis) * angle : x; });
    const box = draw(strip, "g", { opacity });
    if (!isOfTwo) draw(box, "path", { d: `M${xs[from - 1]} ${y2}H${xs[to - 1]}`, stroke: colors.focus, "stroke-width": sizes.line });
    indices.forEach((j, n) => {
      const isIn = isOfTwo ? n === indices.length - 1 : n + 1 >= from && n + 1 <= to, at = isIn ? y2 : y, isJoined = n + 1 === focus || n === focus;
      const words = isOfTwo ? (j === indices.at(-1) ? "x" : "y") : isLabelled ? `x${LOW[j + 1]}` : String(j + 1), r = isLabelled ? sizes.note : 0.62 * sizes.note;
      draw(box, "circle", { cx: xs[n], cy: at, r, fill: colors.ground });
      draw(box, "circle", { cx: xs[n], cy: at, r, fill: colors.focus, "fill-opacity": isJoined ? 0.3 : 0, stroke: colors[isIn ? "focus" : "axis"], "stroke-width": isLabelled ? (isIn ? 2.5 : 1) : 0 });
      draw(box, "text", { x: xs[n], y: at, "text-anchor": "middle", "dominant-baseline": "central", "font-size": sizes.note, fill: colors.ink }).textContent = words;
    });
  }

  function paint() {
    frame = 0;
    if (!width || !term) return;
    const { colors, sizes } = meta.look, { factors, focus, turned, values, value, indices } = term, here = factors[focus - 1], isLabelled = local.layers <= LABELLED, third = 3 ** (local.layers - 1);
    tree.replaceChildren();
    strip.replaceChildren();
    const text = (words, x, y, look) => { draw(strip, "text", { x, y, "dominant-baseline": "central", "font-size": sizes.note, fill: colors.soft, ...look }).innerHTML = words; };
    const top = inPlot("", [0, local.layers - 0.75])[1];
    draw(tree, "rect", { x: leafAt(third - 0.5), y: top, width: leafAt(third) - leafAt(0), height: rows.bars + rows.high + 3 - top, fill: colors.wash });
    const node = nodes().find(({ place }) => place === focus), [x, y] = node.at;
    for (const trace of data.slice(0, 3)) parts.drawTrace(tree, trace); // lines and leaves
    const { marker } = data.find(({ name }) => name === "layers");
    nodes().forEach(({ at, size }, n) => { const [cx, cy] = inPlot("", at); draw(tree, "circle", { cx, cy, r: size / 2, fill: marker.color[n], stroke: colors.ink, "stroke-width": 1.2 }); });
    const [cx, cy] = inPlot("", [x, y]);
    draw(tree, "circle", { cx, cy, r: node.size / 2 + 3.5, fill: "none", stroke: colors.focus, "stroke-width": 3 });

    const axis = leafAt(barAt(focus)), isTurning = turn > 0, middle = { "text-anchor": "middle" };
    drawTerm(term, [rows.bars, rows.values], 1, 0);
    drawTokens(indices, rows.tokens, rows.tokens, 1, 1);
    if (isTurning) {
      const changed = indices[focus - 1] !== indices[focus] ? focus : 0;
      drawTerm(turned, [rows.barsAfter, rows.valuesAfter], turn, changed);
      drawTokens(indices, rows.tokensAfter, rows.tokens + turn * (rows.tokensAfter - rows.tokens), 0.4 + 0.6 * turn, cos(PI * turn));
      const reach = (term.window[1] - term.window[0] + 1) / 2;
      for (let s = 1 - reach; s < reach; s++) if (s) draw(strip, "line", { x1: leafAt(barAt(focus + s)), x2: leafAt(barAt(focus - s)), y1: rows.values + 8, y2: rows.valuesAfter - 8, stroke: colors.axis, "stroke-width": 1.4, opacity: turn });
      const words = `${nameOf(here)} ⇄ ${nameOf({ ...here, isTransposed: !here.isTransposed })}`;
      draw(strip, "rect", { x: axis - 38, y: rows.middle - 9, width: 76, height: 18, fill: colors.ground, opacity: turn ** 6 });
      text(words, axis, rows.middle, { ...middle, opacity: turn ** 6, fill: colors.focus, "font-weight": "bold", "font-size": sizes.base });
      text(`sum <tspan font-weight="bold">${said(value + turned.value)}</tspan>`, 16 + X[1] * (width - 32), rows.middle, { fill: colors.ink, "font-size": sizes.base });
    } else if (!local.isOfTwo) {
      const [from, to] = term.window.map((n) => leafAt(tokenAt(n)));
      draw(strip, "path", { d: `M${axis} ${rows.middle + 12}V${rows.tokensAfter}M${from} ${rows.tokensAfter}H${to}`, stroke: colors.axis, "stroke-width": 2, "stroke-dasharray": "3 5" });
    }
    if (!isTurning) factors.forEach(({ digits, kept }, n) => {
      if (!isLabelled && n + 1 !== focus) return;
      const words = `${kept.slice(0, -1)}<tspan font-weight="bold">${kept.at(-1)}</tspan>${digits.slice(kept.length)}`;
      text(words, leafAt(barAt(n + 1)), rows.values + 1.5 * sizes.note, { ...middle, fill: colors[n + 1 === focus ? "focus" : "soft"] });
    });
    const names = [["tokens", rows.tokens], ...(isLabelled ? [["values", rows.values]] : []), ...(isTurning ? [["turned", rows.tokensAfter]] : [["k in base 3", rows.values + 1.5 * sizes.note]])];
    for (const [words, at] of names) text(words, 16, at);

    const tokens = [indices[focus - 1], indices[focus]].map((j) => (local.isOfTwo ? (j === indices.at(-1) ? "x" : "y") : `x${LOW[j + 1]}`)), link = `${tokens[0]}ᵀ${nameOf(here)}${tokens[1]} = ${said(values[focus - 1])}`;
    set(group, { "aria-disabled": Boolean(local.isOfTwo), "aria-valuenow": focus, "aria-valuetext": `place ${focus}: ${link}` });
    if (local.isOfTwo) grip.hide();
    else grip.to([axis, rows.tokens + turn * (rows.tokensAfter - rows.tokens)], round(100 * turn) / 100, turn > 0.5 ? "turned round" : "as it is");
    text(`${nameOf(here)} at place ${focus} joins ${tokens.join(" and ")}: <tspan font-weight="bold">${link}</tspan>`, width - 42, 19, { fill: colors.focus, "font-size": sizes.base, "text-anchor": "end" });
    stand(host, note, where.isExact, talk.isAlone, true, isNewHere && !local.isOfTwo ? "click a factor or drag along them; drag the ring down: the term is turned round" : "");
  }

  const undo = talk.heard(() => where.follow());
  return {
    show(traces, next, wide) {
      const isNew = local !== next.meta.local, looks = JSON.stringify([next.meta.look, wide, next.height, next.meta.local.layers]);
      [data, meta, width, height] = [traces, next.meta, wide, next.height];
      local = meta.local;
      placeAll(next);
      if (looks !== built) { built = looks; build(); }
      if (isNew) where.start();
      else where.follow();
      soon();
    },
    close() {
      undo();
      stop();
      where.stop();
      cancelAnimationFrame(frame);
    },
  };
}

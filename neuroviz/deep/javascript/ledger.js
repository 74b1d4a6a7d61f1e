// The ledger, to take hold of: a network as its weights, whose edges one drags, and beside it what its parameters come to.
import { abs, draw, handle, max, min, PI, placeOf, player, round, set, shades, sin, stand, tween, write } from "../../kit/javascript/scene.js";
import { change, controlsFor, countsOf, headsOf, inWords, longer, movedBy, networkAt, outputOf, weightsOf, without } from "./ledger_network.js";

const ROWS = ["parameters", "head bases", "interfaces", "rescalings", "unexplained", "dimension"];
const WHY = {
  parameters: "all entries of Q, K and V", "head bases": "another basis inside a head", interfaces: "another basis between two layers",
  rescalings: "A × c and V ÷ c in a layer", unexplained: "nothing left", dimension: "what moves the function",
};
const FULL = [25, 100, 250, 600, 1300, 2600, 5000]; // parameters that fill the width of the bars
const SECONDS = 5, BETWEEN = 6; // of a motion; pixels between Q, K and V
const subscript = (n) => String(n).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]);
const inParts = (parts) => (parts.length > 2 && new Set(parts).size === 1 ? `${parts.length} × ${parts[0]}` : parts.join(" + "));
const flat = (layers) => layers.flatMap((layer) => headsOf(layer).flatMap(({ Q, K, V }) => [Q, K, V]));

export function ledger(host, talk) {
  let meta, layout, data, width = 0, height = 0, net, counts, base, still, box, look, palette, shown, aim, built = "", frame = 0, weightsAt = [];
  let held = null, isNewHere = true, motion = null, stop = () => {}, rows = [], hooks = [], last, count, words, players = {}, buttons = [], layerWords = [], more, note;
  const page = host.appendChild(document.createElement("canvas")), pen = page.getContext("2d"), over = draw(host, "svg");
  page.style.position = "absolute";
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const ruler = draw(over, "g"), bars = draw(over, "g"), grips = draw(over, "g"), soon = () => { frame ||= requestAnimationFrame(paint); };
  const where = placeOf(talk, () => meta, (place) => {
    const found = networkAt(place, meta.local);
    if (!found || JSON.stringify(found) === JSON.stringify(net)) return soon();
    const isLonger = net && net.heads.length !== found.heads.length;
    net = found;
    counts = countsOf(net);
    base = weightsOf(net);
    still = outputOf(base.layers, base.X, net.kind);
    if (width) { if (isLonger) buildLayers(); turnTo(); }
  });

  function go(next) {
    isNewHere = false;
    // One control after the other: on the way, too, there are as many head dimensions as layers.
    if (next.heads.length !== net.heads.length && where.here.head_dims) where.go({ head_dims: "" });
    where.go(controlsFor(next));
  }
  const within = (n) => max(1, min(meta.local.widest, n));
  const replaced = (list, i, value) => list.map((old, k) => (k === i ? within(value) : old));
  const setWidth = (i, value) => go({ ...net, widths: replaced(net.widths, i, value) });
  const setHead = (i, value) => go({ ...net, heads: replaced(net.heads, i, value) });
  const setCount = (H) => go({ ...net, H: max(1, min(meta.local.most, H)) });

  // --- where everything is ------------------------------------------------------------------------------

  const gap = () => max(34, 2.9 * look.sizes.note); // between layers: the width of one, and the letters of the next
  const isTight = () => net.heads.length > 4 || net.heads.length * (4.6 * look.sizes.note + gap() + 7) + 30 > box.wide;
  const step = () => (isTight() ? 3 : 7), behind = () => step() * (net.H - 1); // pixels from a head to the one behind it
  const leastWide = () => (isTight() ? 2.6 : 4.6) * look.sizes.note, wideOf = (d, wide) => max(wide * d, leastWide()); // room for words
  // The largest cells for which the layers have room, and some more to grow; what is held stays under the hand meanwhile.
  function fit() {
    const rooms = net.heads.length * (gap() + behind()) + 30, head = box.top + behind() + 2 * BETWEEN + 0.8 * look.sizes.note, high = box.low - head, most = max(...net.heads), deep = max(...net.widths.slice(1));
    const across = (wide) => net.heads.reduce((all, _, i) => all + wideOf(net.widths[i], wide), rooms + (held ? 0 : 3 * wide));
    let wide = held?.wide ?? 24;
    const least = max(2, leastWide() / max(...net.widths.slice(0, -1))); // narrower cells leave the layers no more room
    while (wide > least && across(wide) > box.wide) wide -= 0.25;
    if (held) return { ...held, wide, tall: min(held.tall, (held.y - head) / (2 * most), (box.low - held.y) / deep) };
    const tall = min(20, high / (2 * most + deep + 4)), rest = high - tall * (2 * most + deep + 4);
    return { wide, tall, y: head + rest / 2 + 2 * tall * (most + 1) };
  }

  // The numbers that the picture is drawn from: they go to their new values in a moment.
  function goal() {
    const said = exactly(), all = counts.rows[0], [, heads, between, scalings] = counts.rows, others = all - heads - scalings - counts.dimension;
    const costs = said?.costs ?? [heads, min(between, others), scalings, max(0, others - between)];
    const ends = { rest: said?.rest ?? counts.dimension, formula: said?.formula ?? counts.dimension }; // without a formula no tick
    return { said, numbers: { ...fit(), all, scale: box.bars / FULL.find((most) => most >= all), costs, ...ends } };
  }

  function turnTo(ms = 200) {
    stop();
    aim = goal();
    const from = shown ?? { ...aim.numbers, costs: [0, 0, 0, 0], rest: aim.numbers.all }, to = aim.numbers; // at first all fall
    const mix = (a, b, share) => (Array.isArray(b) ? b.map((t, i) => mix(a[i], t, share)) : a + share * (b - a));
    stop = tween((share) => {
      shown = share === 1 ? to : Object.fromEntries(Object.keys(to).map((key) => [key, mix(from[key], to[key], share)]));
      soon();
    }, ms);
  }

  // What Python has counted, where it speaks of this place.
  function exactly() {
    if (!where.isExact) return null;
    const named = Object.fromEntries(data.map((trace) => [trace.name, trace])), left = named["unexplained directions"];
    const costs = [...named["directions that symmetries explain"].y, left ? left.y[0] : 0];
    return { costs, rest: named["dimension (measured)"].y[0], formula: named["dimension by the formula"]?.y[0], note: left?.customdata[0].replace(/^.*?: /, "") };
  }

  // --- what there is --------------------------------------------------------------------------------------

  function build() {
    for (const one of [...(words ?? []), ...rows.map((row) => row.text), ...Object.values(players).map(({ button }) => button), ...(more ? [more, note] : [])]) one.remove();
    look = meta.look;
    const { colors, sizes } = look, side = 16, top = round(2.2 * sizes.title), middle = round(0.46 * width), high = (height - top - 12) / ROWS.length;
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink });
    Object.assign(host.style, { position: "relative", fontFamily: look.font, fontSize: `${sizes.note}px`, lineHeight: 1.3, overflow: "hidden" });
    set(over, { width, height });
    Object.assign(page, { width: 2 * middle, height: 2 * height });
    Object.assign(page.style, { width: `${middle}px`, height: `${height}px`, left: 0, top: 0 });
    const left = middle + 46 + 3.9 * sizes.title;
    box = { side, wide: middle - 2.5 * side, top: top + 2.4 * sizes.note, low: height - 8.6 * sizes.note, left, bars: width - side - left };
    palette = shades(look.diverging);

    const line = { fontSize: `${sizes.title}px`, lineHeight: 1.2, top: "6px", pointerEvents: "none", whiteSpace: "nowrap" };
    const said = { left: `${side}px`, top: `${box.low + 1.4 * sizes.note}px`, pointerEvents: "none", whiteSpace: "nowrap" };
    words = [write(host, { left: `${side}px`, ...line }), write(host, { left: `${middle}px`, ...line }), write(host, said)];
    words[1].classList.add("nv-exact");
    const plain = { background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}` };
    more = button("+", "add a layer", () => go(longer(net)), plain);
    bars.replaceChildren();
    const id = `nv-hatch-${Math.random()}`, hatch = draw(draw(bars, "defs"), "pattern", { id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    draw(hatch, "rect", { width: 7, height: 7, fill: colors.ground });
    draw(hatch, "rect", { width: 2.5, height: 7, fill: colors.outside });
    draw(bars, "line", { x1: middle + 34, x2: left - 10, y1: top + 5 * high + 2, y2: top + 5 * high + 2, stroke: colors.ink, "stroke-width": 1.5 });
    const fills = [colors.soft, colors.symmetry, colors.symmetry, colors.symmetry, `url(#${id})`, colors.measured];
    rows = ROWS.map((name, i) => {
      const y = top + i * high, tall = high - 2.1 * sizes.note - 4, at = { y: y + 1.5 * sizes.note + 3, height: tall };
      const row = { at, rest: draw(bars, "rect", { ...at, x: left, fill: colors.wash }), bar: draw(bars, "rect", { ...at, fill: fills[i] }) };
      row.number = draw(bars, "text", { x: left - 12, y: at.y + tall / 2 + 4, "text-anchor": "end", "font-size": 1.4 * sizes.title, "font-weight": "bold" });
      row.text = write(host, { left: `${left}px`, top: `${y + 1}px`, maxWidth: `${box.bars}px`, whiteSpace: "nowrap", overflow: "hidden", textOverflow: "ellipsis", background: colors.ground });
      row.drop = i && draw(bars, "line", { y1: at.y - high + tall, y2: at.y + tall, stroke: colors.soft, "stroke-dasharray": "2 3" });
      if (!i || i === 4) return row;
      const title = i === 5 ? "move the weights in another direction: the output moves" : `move the weights along ${name}: does the output move?`;
      players[name] = player(host, { left: `${middle}px`, top: `${at.y + tall / 2 - 13}px` }, {
        name: title, seconds: SECONDS,
        from() {
          for (const other of Object.values(players)) if (other !== players[name]) other.stop();
          isNewHere = false;
          return motion?.name === name && motion.share < 0.99 ? motion.share : 0;
        },
        walk: (share) => { motion = share < 1 ? { name, share } : null; soon(); },
      });
      Object.assign(players[name].button.style, plain);
      for (const one of [row.bar, row.text]) {
        one.style.cssText += "; cursor: pointer; pointer-events: all";
        one.addEventListener("click", () => players[name].button.click());
      }
      return row;
    });
    const { at } = rows[5];
    rows[5].tick = draw(bars, "line", { y1: at.y - 4, y2: at.y + at.height + 4, stroke: colors.ink, "stroke-width": sizes.line + 2 });
    note = write(host, { left: `${side}px`, bottom: "0", color: colors.soft, lineHeight: 1.1, pointerEvents: "none" });
    buildLayers();
  }

  function button(text, name, pressed, look) {
    const made = write(host, { padding: 0, width: "22px", height: "22px", cursor: "pointer", ...look }, text, "button");
    set(made, { type: "button", "aria-label": name, title: name });
    made.addEventListener("click", pressed);
    return made;
  }

  // An edge that one takes hold of: a line with a knob, and the number that it changes.
  function edge(name, value, isAcross, unit, put, most = meta.local.widest) {
    const { colors, sizes } = look;
    let from, start;
    const grip = handle(grips, {
      name, range: () => [1, most], ring: 4, color: colors.focus, scene: host, keyed: (x, y) => put(value() + (x || y)),
      begin: (at) => {
        for (const one of Object.values(players)) one.stop();
        [held, motion, from, start] = [{ wide: shown.wide, tall: shown.tall, y: shown.y }, null, at, value()];
        where.hold();
      },
      moved: (at) => put(start + round(unit(at[0] - from[0], at[1] - from[1]) / (isAcross ? held.wide : held.tall))),
      end: () => { held = null; where.release(); turnTo(); },
    });
    const group = grips.lastChild;
    draw(group, "title").textContent = name;
    const [seen, wide] = [2.5, 14].map((thick) => draw(group, "line", { stroke: thick > 9 ? "transparent" : colors.focus, "stroke-width": thick }));
    group.prepend(wide);
    for (const one of group.children) one.style.cursor = isAcross ? "ew-resize" : "ns-resize";
    group.querySelectorAll("circle")[1].setAttribute("fill", colors.focus);
    const text = draw(group, "text", { "font-size": sizes.note, fill: colors.ink, "text-anchor": isAcross ? "start" : "middle", ...(isAcross ? { x: 9, y: 4 } : { y: -8 }) });
    return {
      at(x, y, half, words = "") {
        grip.to([x, y], value(), `${name}: ${value()}`);
        for (const one of [seen, wide]) set(one, isAcross ? { y1: -half, y2: half } : { x1: -half, x2: half });
        text.textContent = `${words}${value()}`;
      },
      text,
    };
  }

  function buildLayers() {
    for (const one of [...buttons, ...layerWords]) one.remove();
    grips.replaceChildren();
    const l = net.heads.length, { colors } = look;
    hooks = net.heads.map((_, i) => ({
      head: edge(`head dimension a${subscript(i + 1)}`, () => net.heads[i], false, (_x, y) => -y / 2, (a) => setHead(i, a)),
      width: edge(`width d${subscript(i)}`, () => net.widths[i], true, (x) => x, (d) => setWidth(i, d)),
    }));
    count = edge("heads H in each layer", () => net.H, true, (x, y) => (held.wide * (x - y)) / (2 * step()), setCount, meta.local.most);
    set(count.text, { x: 4, y: -8 - 1.2 * look.sizes.note }); // beside it the next layer begins
    last = edge(`width d${subscript(l)}`, () => net.widths[l], false, (_x, y) => y, (d) => setWidth(l, d));
    set(last.text, { y: 18 });
    layerWords = net.heads.map((_, i) => write(host, { color: colors.soft, pointerEvents: "none", whiteSpace: "nowrap" }, `${isTight() ? "" : "layer "}${i + 1}`));
    const remove = (i) => { go(without(net, i)); more.focus(); };
    const bare = { background: "none", color: colors.soft, border: "none" };
    buttons = l > 1 ? net.heads.map((_, i) => button("×", `remove layer ${i + 1}`, () => remove(i), bare)) : [];
    const isThere = l < meta.local.deepest;
    if (!isThere && document.activeElement === more) buttons.at(-1).focus(); // the keyboard goes on from here
    more.style.display = isThere ? "" : "none";
  }

  // --- the picture ----------------------------------------------------------------------------------------

  function paint() {
    frame = 0;
    if (!net || !shown) return;
    const s = motion ? sin(2 * PI * motion.share) : 0, now = [base, shown.wide, shown.tall, shown.y, s, motion?.name, hooks, palette];
    if (now.some((one, i) => one !== weightsAt[i])) drawWeights(s); // while the parameters fall they stand still
    weightsAt = now;
    drawRows();
    drawRuler();
    const hint = isNewHere ? "drag an orange edge · press ▶: the weights move, does the output?" : "";
    stand(host, note, where.isExact, talk.isAlone, true, hint);
  }

  function drawWeights(s) {
    const { colors, sizes } = look, { wide, tall, y } = shown;
    const layers = s ? movedBy(base.layers, motion.name, s) : base.layers, output = s ? outputOf(layers, base.X, net.kind) : still;
    pen.setTransform(2, 0, 0, 2, 0, 0);
    pen.clearRect(0, 0, page.width, page.height);
    pen.font = `italic ${sizes.note}px ${look.font}`;
    pen.textAlign = "right";
    let x = box.side + 14;
    layers.forEach((layer, i) => {
      const d = net.widths[i], a = net.heads[i], out = net.widths[i + 1], isLast = i + 1 === net.heads.length;
      const tops = { Q: y - 2 * BETWEEN - 2 * a * tall, K: y - BETWEEN - a * tall, V: y };
      for (const [h, head] of [...headsOf(layer).entries()].reverse()) for (const [name, from] of Object.entries(tops)) {
        const M = head[name], left = x + h * step(), top = from - h * step();
        pen.fillStyle = colors.soft;
        if (!h && tall * M.length > 0.8 * sizes.note) pen.fillText(name, x - 4, from + (tall * M.length) / 2 + 0.35 * sizes.note);
        pen.fillStyle = colors.ground;
        pen.fillRect(left - 0.5, top - 0.5, wide * d, tall * M.length); // over the heads behind it
        M.forEach((row, p) => row.forEach((entry, q) => {
          pen.fillStyle = palette[round(32 + 32 * max(-1, min(1, entry / 1.6)))];
          pen.fillRect(left + q * wide, top + p * tall, max(1, wide - 1), max(1, tall - 1));
        }));
        pen.strokeStyle = colors.axis;
        pen.lineWidth = 1;
        pen.strokeRect(left - 0.5, top - 0.5, wide * d, tall * M.length);
      }
      const far = behind(), crown = tops.Q - far;
      const low = y + out * tall;
      hooks[i].head.at(x + far + (wide * d) / 2, crown - 1, (wide * d) / 2, "a = ");
      hooks[i].width.at(x + far + wide * d, (crown + low) / 2, (low - crown) / 2);
      if (!i) count.at(x + far + max(wide * d, (wide * d) / 2 + 26), crown - 1, 0, "heads: "); // off the handle of a
      if (isLast) last.at(x + (wide * d) / 2, low, (wide * d) / 2, "d′ = ");
      Object.assign(layerWords[i].style, { left: `${x}px`, top: `${box.top - 2.4 * sizes.note}px` });
      if (buttons[i]) Object.assign(buttons[i].style, { left: `${x + (isTight() ? 0.8 : 3.2) * sizes.note}px`, top: `${box.top - 1.75 * sizes.note - 11}px` });
      x += wideOf(d, wide) + gap() + far;
      if (isLast) Object.assign(more.style, { left: `${x - 10}px`, top: `${y - 11}px` });
    });
    drawOutput(output, s ? change(flat(base.layers), flat(layers)) : 0);
  }

  // The output for one input, token by token, beside what it was before the weights moved.
  function drawOutput(output, moved) {
    const { colors, sizes } = look, list = (Y) => Y[0].flatMap((_, j) => Y.map((row) => row[j])), now = list(output), old = list(still);
    const most = max(...old.map(abs)), top = box.low + 3 * sizes.note, tall = height - 1.5 * sizes.note - top, zero = top + tall / 2;
    const come = change([still], [output]) / most, step = min(22, box.wide / (now.length + net.tokens));
    now.forEach((value, n) => {
      const x = box.side + (n + ((n / output.length) | 0) * 0.7) * step, heightOf = (t) => max(-0.5, min(0.5, (0.45 * t) / most)) * tall;
      pen.fillStyle = come > 1e-6 ? colors.focus : colors.soft;
      pen.fillRect(x, zero, step - 2, -heightOf(value));
      pen.strokeStyle = colors.axis;
      pen.strokeRect(x, zero, step - 2, -heightOf(old[n]));
    });
    pen.fillRect(box.side, zero - 0.5, (now.length + (net.tokens - 1) * 0.7) * step, 1);
    const little = come.toExponential(0).replace(/e-(.*)/, (_, n) => `·10⁻${n.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit])}`);
    const is = come > 1e-6 ? `<b style="color:${colors.focus}">moves</b> by ${inWords(come)}` : `<b>stands still</b>, to ${little}`;
    say(words[2], moved ? `weights move by up to ${moved.toFixed(2)}; the output ${is}` : "<b>output</b> for one input, from these weights");
  }

  function drawRows() {
    const { colors } = look, { said, numbers } = aim, { all, scale, costs } = shown, l = net.heads.length;
    say(words[0], `<b>${numbers.all} parameters in ${l} layer${l > 1 ? "s" : ""}: drag an edge</b>`);
    say(words[1], layout.annotations[0].text);
    let level = all;
    rows.forEach((row, i) => {
      const name = ROWS[i], cost = i && i < 5 ? costs[i - 1] : 0, below = level - cost, from = i === 5 ? 0 : below;
      const [start, end] = i === 0 ? [0, all] : i === 5 ? [0, shown.rest] : [min(below, level), max(below, level)];
      set(row.bar, { x: box.left + scale * start, width: scale * (end - start) });
      set(row.rest, { width: max(0, scale * from) });
      if (row.drop) set(row.drop, { x1: box.left + scale * level, x2: box.left + scale * level });
      level = below;
      const n = i === 0 ? numbers.all : i === 5 ? numbers.rest : numbers.costs[i - 1];
      const isOpen = !said && !counts.isSure && (net.H > 1 ? i > 1 : i === 2 || i === 4);
      row.number.textContent = isOpen ? "…" : `${i && i < 5 && n > 0 ? "−" : ""}${abs(n)}`;
      set(row.number, { fill: i === 5 && said ? colors.measured : i === 4 && n ? colors.outside : n ? colors.ink : colors.soft });
      set(row.bar, { opacity: isOpen ? 0.35 : 1 });
      const parts = counts.parts[name], detail = parts && parts.length > 1 && (said ? counts.isSure : !isOpen) ? `: ${inParts(parts)}` : "";
      say(row.text, `<b>${name}</b> <span style="color:${colors.soft}">${whyOf(name, said, n)}${detail}</span>`);
    });
    const bar = said ? { fill: colors.measured, stroke: "none" } : { fill: colors.ground, stroke: colors.ink, "stroke-width": 2 };
    set(rows[5].bar, bar);
    set(rows[5].tick, { x1: box.left + scale * shown.formula, x2: box.left + scale * shown.formula, opacity: said ? +(said.formula !== undefined) : +(net.H === 1) });
    players.interfaces.button.disabled = l === 1;
    players.interfaces.button.style.opacity = l === 1 ? 0.35 : 1;
  }

  // How many parameters the bars are long: the scale changes where another network needs it, and is seen to change.
  function drawRuler() {
    const { colors, sizes } = look, { scale } = shown, step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((n) => n * scale > 5 * sizes.note), low = rows[5].at.y + rows[5].at.height;
    ruler.replaceChildren();
    for (let n = 0; n * scale <= box.bars + 1; n += step) {
      const x = box.left + n * scale;
      draw(ruler, "line", { x1: x, x2: x, y1: rows[0].at.y - 3, y2: low + 4, stroke: colors.grid });
      draw(ruler, "text", { x, y: low + 5 + sizes.note, "font-size": sizes.note, fill: colors.soft, "text-anchor": n * scale > box.bars - 12 ? "end" : "middle" }).append(n);
    }
  }

  function whyOf(name, said, n) {
    if (name === "head bases" && net.heads.some((a, i) => a > net.widths[i])) return "another basis, 2ad − d² for a > d";
    if (name === "interfaces" && net.heads.length === 1) return "one layer: nothing between";
    if (name === "rescalings" && net.H > 1 && net.kind === "lightning") return "A × c and V ÷ c in a head; heads that blend";
    if (name === "rescalings" && net.kind === "softmax") return "softmax sees A × c: none";
    if (name === "unexplained" && !said && !counts.isSure) return "what no symmetry explains";
    if (name === "unexplained" && n) return said?.note ?? "other causes";
    if (name === "dimension") return said ? `exact rank · ${layout.annotations.at(-1).text.replaceAll("<br><b>", ": <b>").replaceAll("<br>", " · ")}` : net.H > 1 ? "the exact rank comes from Python" : "by the formula; the exact rank comes from Python";
    return WHY[name];
  }

  function say(node, text) { if (node.said !== text) { node.said = text; node.innerHTML = text; } }

  const undo = talk.heard(() => where.follow());
  return {
    show(traces, next, wide) {
      const isFirst = !meta;
      [data, layout, meta] = [traces, next, next.meta];
      if (isFirst) where.start();
      else where.follow();
      const looks = JSON.stringify([meta.look, wide, layout.height]);
      if (looks !== built) {
        [built, width, height] = [looks, wide, layout.height];
        build();
        turnTo(isFirst ? 800 : 200);
      } else if (where.isExact) turnTo();
      soon();
    },
    close() {
      undo();
      stop();
      where.stop();
      for (const one of Object.values(players)) one.stop();
      cancelAnimationFrame(frame);
    },
  };
}

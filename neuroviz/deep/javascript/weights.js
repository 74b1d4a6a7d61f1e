// Two networks, matrix by matrix: turn the basis between two layers by hand, or drag the factors λ, and see what stands still.
import { basisIn } from "../../kit/javascript/basis.js";
import { partsIn } from "../../kit/javascript/parts.js";
import { abs, draw, handle, max, min, placeOf, player, round, set, shades, stand, write } from "../../kit/javascript/scene.js";
import { LOW, seenAt } from "./ledger_network.js";

const PLANE = 124, LINE = 12; // pixels of the plane in which C is seen, and of the hint
const VERDICT = /<b>(same|moved)<\/b>/;
const signed = (t) => String(+t.toFixed(2)).replace("-", "−");
const percent = (t) => `${t >= 0.0995 ? round(100 * t) : +(100 * t).toPrecision(2)} %`;

export function weights(host, talk) {
  let meta, layout, data, local, width = 0, height = 0, frame = 0, built = "", isNewHere = true, hooks = [], cells = [], colorOf, turner, play, note;
  const over = draw(host, "svg");
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const parts = partsIn(host, over), { along, inPlot } = parts, table = draw(over, "g"), moving = draw(over, "g"), lines = draw(over, "g"), hands = draw(over, "g");
  const soon = () => { frame ||= requestAnimationFrame(paint); };
  const where = placeOf(talk, () => meta, soon);
  const hold = () => { isNewHere = false; play.stop(); where.hold(); };
  const traceOf = (name) => data.find((one) => one.name === name);
  const text = (group, words, x, y, look) => { const one = draw(group, "text", { x, y, "text-anchor": "middle", ...look }); one.textContent = words; return one; };

  // Cells have one size, as on plotly's constrained axes, and the bars stand under them.
  function squared(next) {
    const { xaxis: x, yaxis: y } = next, { l, r, t, b } = next.template.layout.margin, box = { left: l, wide: width - l - r, top: t, tall: height - t - b - LINE };
    const last = max(...data.filter(({ type, z }) => type === "heatmap" && z.length).map((one) => one.x.at(-1))) + 2;
    const [low, high] = y.domain, cell = min(box.wide / last, (box.tall * (high - low)) / y.range[0]), domain = [0, (cell * x.range[1]) / box.wide];
    layout = { ...next, shapes: [], xaxis: { ...x, domain }, xaxis2: { ...next.xaxis2, domain }, yaxis: { ...y, domain: [high - (cell * y.range[0]) / box.tall, high] } };
    parts.place(layout, box);
    return cell;
  }
  const rectOf = ({ x, y }) => { const [left, top] = inPlot("", [x[0], y[0]]), [right, low] = inPlot("", [x.at(-1), y.at(-1)]); return { left, top, right, low }; };

  // The matrices, once; what they hold is put in by `fill`.
  function drawTable(cell) {
    const { colors, sizes } = meta.look, hasRoom = cell >= 2.5 * sizes.note;
    table.replaceChildren();
    cells = data.filter(({ type, z }) => type === "heatmap" && z.length).map((trace) => {
      const { name, x, y, z } = trace, [matrix, when] = name.split(", "), group = draw(table, "g", { class: when === "recovered" ? "nv-exact" : "" });
      const { left, top, right, low } = rectOf(trace);
      const frame = draw(group, "rect", { x: left - 4, y: top - 4, width: right - left + 8, height: low - top + 8, fill: "none", stroke: "none", "stroke-width": 3 });
      const entries = z.map((row, i) => row.map((_, j) => {
        const [u, v] = inPlot("", [x[j], y[i]]), rect = draw(group, "rect", { x: u + 1, y: v + 1, width: cell - 2, height: cell - 2 });
        return [rect, hasRoom && text(group, "", u + cell / 2, v + cell / 2, { fill: colors.ink, "font-size": sizes.note, "dominant-baseline": "central" })];
      }));
      fill({ entries, trace }, z);
      return { matrix, when, trace, frame, entries };
    });
  }
  function fill({ entries, trace }, M) {
    entries.forEach((row, i) => row.forEach(([rect, words], j) => {
      const share = max(-1, min(1, M[i][j] / trace.zmax)), { colors } = meta.look;
      set(rect, { fill: colorOf[round(32 + 32 * share)] });
      if (!words) return;
      words.textContent = abs(M[i][j]) < 0.005 ? "0" : M[i][j].toFixed(abs(M[i][j]) < 0.05 ? 2 : 1).replace("0.0", ".0").replace("-", "−");
      set(words, { fill: abs(share) > 0.6 ? colors.ground : colors.ink });
    }));
  }

  // A knob at the right of a matrix, which goes up and down in its height.
  function track(name, label, matrix) {
    const { left, top, right, low } = rectOf(traceOf(`${matrix}, now`)), [least, most, step] = meta.ranges[name], { colors } = meta.look, x = right + 10;
    const [from, to] = [top, max(low, top + 50)], unit = (to - from) / (most - least), y = (value) => to - unit * (value - least);
    draw(lines, "path", { d: `M${x} ${from}V${to}M${x - 4} ${y(0)}h8`, stroke: colors.focus, "stroke-opacity": 0.4, "stroke-width": 4, "stroke-linecap": "round" });
    const knob = handle(hands, {
      name: label, range: () => [least, most], ring: 5, color: colors.focus, scene: host, begin: hold, end: where.release,
      moved: ([, at]) => where.go({ [name]: least + (to - at) / unit }),
      keyed: (u, v) => { isNewHere = false; where.go({ [name]: where.here[name] + step * (u || v) }); },
    });
    set(hands.lastChild.lastChild, { fill: colors.ground });
    hooks.push(() => { const value = where.here[name]; knob.to([x, y(value)], value, `${label}: ${signed(value)}`); });
  }

  function build() {
    const { look } = meta, { colors, sizes, font } = look, { at, layers } = local;
    for (const group of [moving, lines, hands]) group.replaceChildren();
    for (const one of play ? [play.button, note] : []) one.remove();
    hooks = [];
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink, position: "relative", fontFamily: font });
    set(over, { width, height });
    if (at) {
      track("alone", `row 1 of V${LOW[at]} alone`, `V${LOW[at]}`);
      const C = rectOf(traceOf(`C${LOW[at]}, applied`)), top = max(...data.filter(({ type }) => type === "heatmap").map((one) => rectOf(one).low)) + 2.4 * sizes.base, left = min((C.left + C.right - PLANE) / 2, width - 16 - PLANE);
      const box = { left, top, wide: PLANE, tall: height - 8 - top }, hook = { scene: host, begin: hold, end: where.release, keyed: () => { isNewHere = false; } };
      turner = basisIn(lines, lines, hands, { walk: where.here.walk, a: layers[at].V[0].length, look, where, box, hook });
    } else {
      track("off", "log₂ of what λ₀ misses", "L");
      layers.forEach((_, i) => track(`log_${i + 1}`, `log₂ λ${LOW[i + 1]}`, `M${LOW[i + 1]}`));
    }
    const name = at ? "along" : "log_1", from = () => { const come = (where.here[name] + 1) / 2; return come > 0.99 ? 0 : come; };
    play = player(host, { left: "16px", bottom: "2px" }, { name: at ? "walk with C" : "walk with λ₁", seconds: 6, from, walk: (share) => where.go({ [name]: 2 * share - 1 }) });
    Object.assign(play.button.style, { background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}`, display: at && layers[at - 1].V.length < 2 && where.here.walk !== "stretch" ? "none" : "" });
    note = write(host, { left: "78px", bottom: "1px", lineHeight: 1.1, color: colors.soft, fontSize: `${sizes.note}px`, pointerEvents: "none" });
  }

  // How far each matrix has moved, or by what it is multiplied.
  function drawBars(found) {
    const { x, width: wide, customdata } = traceOf("how far each matrix has moved"), { colors, sizes } = meta.look, isLog = !local.at;
    const rows = customdata.map((name) => {
      const one = found.get(name), { isStill, isSame, change, log } = one, isLost = isLog && isStill && local.kind === "softmax";
      const high = isSame && (isStill || !isLog) ? 0 : isLog && !isLost ? log : change;
      const words = isLost ? `${isSame ? "" : "off by "}${isSame ? 0 : percent(change)}` : isLog ? signed(high) : isSame ? "0" : percent(change);
      return { high, words, color: isStill ? colors[isSame ? "certified" : "outside"] : words === "0" ? colors.soft : colors.focus };
    });
    const highs = rows.map(({ high }) => high);
    layout.yaxis2 = { ...layout.yaxis2, range: [min(...highs, 0), 1.02 * max(...highs, 1)] };
    rows.forEach(({ high, words, color }, k) => {
      const [left, y] = inPlot("2", [x[k] - wide / 2, high]), [right, zero] = inPlot("2", [x[k] + wide / 2, 0]);
      draw(moving, "rect", { x: left, y: min(y, zero), width: right - left, height: abs(zero - y), fill: color });
      text(moving, words, (left + right) / 2, min(y, zero) - 5, { fill: color, "font-size": sizes.base, "font-weight": "bold" });
    });
    parts.drawTrace(moving, traceOf("no move"));
  }

  function paint() {
    frame = 0;
    if (!width || !where.here) return;
    const { colors, sizes } = meta.look, { C, found } = seenAt(local, where.here);
    moving.replaceChildren();
    for (const one of cells) {
      const { matrix, when, trace, frame: around } = one, state = found.get(matrix), color = state && colors[state.isSame ? "certified" : "outside"];
      if (when === "now") fill(one, state.now);
      if (when === "applied") fill(one, C);
      if (state?.isStill) set(around, { stroke: color });
      const { left, top, right } = rectOf(trace);
      if (state?.isStill && when === "now") text(moving, state.isSame ? "same" : "moved", (left + right) / 2, top - 9, { fill: color, "font-size": sizes.base, "font-weight": "bold" });
    }
    drawBars(found);
    for (const place of hooks) place();
    turner?.(C, where.here.along);
    const hint = local.at ? "drag the ring: C turns, the virtual weights stand still · drag the knob: V moves alone" : "drag a knob up or down: λ₀ answers";
    stand(host, note, where.isExact, talk.isAlone, true, isNewHere ? hint : "");
  }

  const undo = talk.heard(() => where.follow());
  return {
    show(traces, next, wide) {
      const isNew = local !== next.meta.local, looks = JSON.stringify([next.meta.look, wide, next.height, next.meta.place.walk]);
      [data, meta, width, height] = [traces, next.meta, wide, next.height];
      local = meta.local;
      colorOf = shades(meta.look.diverging);
      const cell = squared(next);
      if (isNew || looks !== built) {
        built = looks;
        turner = null;
        play?.stop();
        where.start();
        build();
      } else where.follow();
      drawTable(cell);
      const { title } = meta.look.sizes, isOfPlace = ({ text: words, font, yshift }) => font?.size === title || (yshift === 5 && !words.includes("<b>"));
      parts.show([], { ...layout, annotations: layout.annotations.filter((one) => !VERDICT.test(one.text)) }, meta.look, isOfPlace);
      soon();
    },
    close() {
      undo();
      where.stop();
      play?.stop();
      cancelAnimationFrame(frame);
    },
  };
}

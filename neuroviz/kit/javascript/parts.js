// The parts of a flat figure as plotly draws them: lines, marks, bars, rectangles, words and bare axes.
import { abs, draw, max, min, set, write } from "./scene.js";

const DASHES = { dash: "9 7", dot: "2 4" }, SHIFTS = { left: 0, center: -50, right: -100, top: 0, middle: -50, bottom: -100 };
let count = 0;

// In an SVG over the host; what moves the scene draws itself, above.
export function partsIn(host, over) {
  const id = `nv-parts-${count++}`, defs = draw(over, "defs"), still = draw(over, "g"), words = write(host, { inset: 0, pointerEvents: "none" });
  let layout, box;

  // The pixel of a value on an axis, of a share of its domain, or of the whole figure.
  function along(letter, ref, value) {
    const axis = layout[`${letter}axis${ref.split(" ")[0].slice(1)}`], [low, high] = ref === "paper" ? [0, 1] : axis.domain;
    const [a, b] = ref === "paper" || ref.endsWith("domain") ? [0, 1] : axis.range, share = low + ((high - low) * (value - a)) / (b - a);
    return letter === "x" ? box.left + share * box.wide : box.top + (1 - share) * box.tall;
  }
  const scaled = (letter, number, value) => (layout[`${letter}axis${number}`].type === "log" ? Math.log10(value) : value);
  const inPlot = (number, at) => ["x", "y"].map((letter, k) => along(letter, letter + number, scaled(letter, number, at[k])));
  const domainOf = (number) => [0, 1].flatMap((end) => [along("x", `x${number} domain`, end), along("y", `y${number} domain`, 1 - end)]);
  const rectangle = ([a, b, c, d]) => ({ x: min(a, c), y: min(b, d), width: abs(c - a), height: abs(d - b) });
  const edge = ({ color = "none", width = 0, dash }) => ({ stroke: color, "stroke-width": width, "stroke-dasharray": DASHES[dash] ?? "none" });

  function drawTrace(group, { x, y, xaxis = "x", mode, line, marker, fill, fillcolor, cliponaxis }) {
    const number = xaxis.slice(1), seen = x.map((t, k) => (t === null ? null : inPlot(number, [t, y[k]]))), [left, , right] = domainOf(number);
    if (mode.includes("lines")) {
      const d = seen.map((p, k) => (p ? `${seen[k - 1] ? "L" : "M"}${p[0].toFixed(1)} ${p[1].toFixed(1)}` : "")).join("");
      const path = draw(group, "path", { d, fill: fill === "toself" ? fillcolor : "none", ...edge(line), "stroke-linejoin": "round" });
      if (cliponaxis !== false) set(path, { "clip-path": `url(#${id}-${number})` });
    }
    if (mode.includes("markers")) for (const [u, v] of seen) {
      const { size, symbol, color, line: rim } = marker, look = { fill: symbol?.endsWith("-open") ? "none" : color, ...edge({ color, ...rim }) };
      if (u < left - 1 || u > right + 1) continue;
      if (symbol?.startsWith("square")) draw(group, "rect", { ...rectangle([u - size / 2, v - size / 2, u + size / 2, v + size / 2]), ...look });
      else draw(group, "circle", { cx: u, cy: v, r: size / 2, ...look });
    }
  }

  // Bars stand on one another.
  function drawBars(bars) {
    const base = bars[0]?.x.map(() => 0), { bgcolor, fgcolor } = bars[0]?.marker.pattern ?? {};
    const hatch = draw(defs, "pattern", { id, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    if (bgcolor) draw(hatch, "rect", { width: 2, height: 8, fill: fgcolor });
    for (const { x, y, xaxis, marker, text, insidetextfont: font, width } of bars) y.forEach((high, k) => {
      if (!high) return;
      const [a, b] = inPlot(xaxis.slice(1), [x[k] - width / 2, base[k]]), [c, d] = inPlot(xaxis.slice(1), [x[k] + width / 2, (base[k] += high)]);
      draw(still, "rect", { ...rectangle([a, b, c, d]), fill: marker.color, ...edge(marker.line) });
      if (marker.pattern?.shape[k]) draw(still, "rect", { ...rectangle([a, b, c, d]), fill: `url(#${id})` });
      const middle = { x: (a + c) / 2, y: (b + d) / 2, "text-anchor": "middle", "dominant-baseline": "central" };
      if (text?.[k]) draw(still, "text", { ...middle, fill: font.color, "font-size": font.size }).append(text[k]);
    });
  }

  function say({ text, x, y, xref, yref, xanchor = "center", yanchor = "middle", xshift = 0, yshift = 0, font, textangle = 0 }, isExact) {
    const place = { left: `${along("x", xref, x) + xshift}px`, top: `${along("y", yref, y) - yshift}px`, textAlign: xanchor, whiteSpace: "nowrap", lineHeight: 1.3 };
    const look = { fontSize: `${font.size}px`, color: font.color, transform: `translate(${SHIFTS[xanchor]}%, ${SHIFTS[yanchor]}%) rotate(${textangle}deg)` };
    write(words, { ...place, ...look }, text.replace(/<su[bp]/g, '$& style="line-height: 0; font-size: 70%"')).classList.toggle("nv-exact", isExact);
  }

  function drawAxes(number, small) {
    const across = layout[`xaxis${number}`], up = layout[`yaxis${number}`], domain = domainOf(number), isRight = up.side === "right";
    draw(draw(defs, "clipPath", { id: `${id}-${number}` }), "rect", rectangle(domain));
    if (across.mirror) draw(still, "rect", { ...rectangle(domain), fill: "none", ...edge({ color: small.line, width: 1 }) });
    const under = { yref: `y${number} domain`, y: 0, yanchor: "top", yshift: -4, font: across.tickfont ?? small };
    const beside = { xref: `x${number} domain`, x: +isRight, xanchor: isRight ? "left" : "right", xshift: isRight ? 4 : -4, font: up.tickfont ?? small };
    across.tickvals?.forEach((x, k) => say({ text: across.ticktext[k], xref: `x${number}`, x: scaled("x", number, x), ...under }, false));
    up.tickvals?.forEach((y, k) => say({ text: up.ticktext[k], yref: `y${number}`, y: scaled("y", number, y), ...beside }, false));
  }

  return {
    along,
    inPlot,
    drawTrace,
    place: (next, where) => { [layout, box] = [next, where]; }, // where the axes are, in pixels
    // All but what moves; `isExact` says which words only Python says.
    show(data, next, { colors, sizes }, isExact) {
      layout = next;
      for (const one of [defs, still, words]) one.replaceChildren();
      const own = { size: sizes.base, color: colors.ink }, notes = { ...layout.template.layout.annotationdefaults.font };
      for (const { xref, yref, x0, x1, y0, y1, line, fillcolor } of layout.shapes) {
        const [a, b, c, d] = [along("x", xref, x0), along("y", yref, y0), along("x", xref, x1), along("y", yref, y1)];
        draw(still, "path", { d: `M${a} ${b}H${c}V${d}H${a}Z`, fill: fillcolor, ...edge(line) }); // a line where it has no width
      }
      for (const name of Object.keys(layout)) if (name.startsWith("xaxis")) drawAxes(name.slice(5), { size: sizes.note, color: colors.soft, line: colors.axis });
      drawBars(data.filter(({ type }) => type === "bar"));
      for (const one of layout.annotations) say({ ...one, font: { ...own, ...notes, ...one.font } }, isExact(one));
    },
  };
}

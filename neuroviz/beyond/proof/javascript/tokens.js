// Two tokens run down the layers and meet: drag a token or the dot (μ, ν) of a layer, click a layer to freeze it;
// or, beside a second network, drag the exponentials along the way that tells the two apart.
import { partsIn } from "../../../kit/javascript/parts.js";
import { abs, drag, draw, handle, hypot, max, min, placeOf, player, round, set, stand, tween, write } from "../../../kit/javascript/scene.js";
import { experimentAt, modesOf, wayOf } from "./token_places.js";

const SIDE = 16, SAMPLES = 100, AWAY = 3, EQUAL = 1e-9, NEAR = 5; // NEAR, in pixels: so near to a meeting the tokens meet
const TOP = 0.9, LOW = 0.1; // of a layer's square in its row, as in immersion_figure.py
const NAMES = ["θ", "θ′"], LETTERS = ["μ", "ν"], SMALL = ["₁", "₂", "₃", "₄"];
const within = (t, least = 0, most = 1) => max(least, min(most, t));
const mix = (a, b, share) => (typeof a === "number" ? a + share * (b - a) : a.map((one, i) => mix(one, b[i], share)));
const met = (places) => places.findIndex(([s, u]) => abs(s - u) < EQUAL);

export function tokens(host, talk) {
  let meta, layout, data, local, way, samples, width = 0, height = 0, frame = 0, built = "", isNewHere = true;
  let shown = null, stopTween = () => {}, isHeld = false, run = null, hooks = [], play, note;
  const over = draw(host, "svg");
  over.style.cssText = "position: absolute; inset: 0; pointer-events: none; overflow: visible";
  const parts = partsIn(host, over), { along, inPlot } = parts, moving = draw(over, "g"), hands = draw(over, "g");
  const soon = () => { frame ||= requestAnimationFrame(paint); };
  const where = placeOf(talk, () => meta, aim);
  const hold = () => { [isNewHere, isHeld, run] = [false, true, null]; play.stop(); where.hold(); };
  const release = () => { isHeld = false; where.release(); };

  // What is shown, for each network: the places of its tokens, and its shares. What jumps is followed on its way.
  function aim(place) {
    const found = way ? way.at(place.travel) : [experimentAt(local, place)], from = shown;
    const next = found.map(({ places, shares }) => [places.map((row) => row.map((t) => within(t, -AWAY, AWAY))), shares]);
    const [before, now] = [from, next].map((one) => one?.flat(3)), jumps = before?.length === now.length && now.some((t, i) => abs(t - before[i]) > 0.15);
    stopTween();
    if (jumps && !isHeld) stopTween = tween((share) => { shown = mix(from, next, share); soon(); });
    else shown = next;
    soon();
  }

  // --- one network: its layers are set -----------------------------------------------------------------

  const inSquare = (layer, [mu, nu]) => inPlot("", [mix(...local.map, mu), layer - mix(LOW, TOP, nu)]);
  const here = () => experimentAt(local, where.here);

  function setLayer(layer, mode, [mu, nu] = here().shares[layer - 1]) {
    isNewHere = false;
    const all = Object.fromEntries(modesOf(local, where.here).map((one, i) => [`mode_${i + 1}`, one]));
    const own = mode === "free" && where.here.experiment === `only-${layer}` ? {} : { experiment: "own", ...all, [`mode_${layer}`]: mode };
    where.go({ ...own, ...(mode === "free" && { ...(!local.causal && { [`mu_${layer}`]: mu }), [`nu_${layer}`]: nu }) });
  }

  function moveToken(layer, token, x) {
    const { places, shares } = here(), [s, u] = places[layer - 1], found = [...shares[layer - 1]], unit = along("x", "x", 1) - along("x", "x", 0);
    const at = (x - along("x", "x", 0)) / unit;
    found[token] = within((token ? u - at : at - s) / (u - s));
    if (abs((1 - found[0] - found[1]) * (u - s)) * unit < NEAR) found[token] = 1 - found[1 - token];
    setLayer(layer, "free", found);
  }

  function moveStart(token, x) {
    const at = within((x - along("x", "x", 0)) / (along("x", "x", 1) - along("x", "x", 0)));
    isNewHere = false;
    where.go({ [`input_${token}`]: at });
  }

  function moveDot(layer, [x, y]) {
    const [left, low] = inSquare(layer, [0, 0]), [right, high] = inSquare(layer, [1, 1]), mu = within((x - left) / (right - left)), nu = within((low - y) / (low - high));
    const meets = 0.7 * abs(1 - mu - nu) * (right - left) < NEAR, near = round(50 * (1 + mu - nu)) / 100;
    setLayer(layer, "free", meets && !local.causal ? [near, 1 - near] : [mu, nu]);
  }

  function takeLayers() {
    const two = (t) => t.toFixed(2), { marker } = meta.look.sizes, layers = local.forms.map((_, i) => i + 1).filter((layer) => layer !== local.tied);
    for (const layer of layers) {
      const [x, y] = inPlot("", [layout.xaxis.range[0], layer - 1]), [right, low] = inPlot("", [layout.xaxis.range[1], layer]);
      const row = draw(hands, "rect", { x, y: y + 2, width: right - x, height: low - y - 4, rx: 4, fill: meta.look.colors.focus, "fill-opacity": 0, role: "button", tabindex: 0 });
      const isFrozen = () => modesOf(local, where.here)[layer - 1] === "frozen", press = () => setLayer(layer, isFrozen() ? "true" : "frozen");
      row.style.cssText = "pointer-events: all; cursor: pointer; outline-offset: -3px";
      row.addEventListener("pointerdown", (event) => event.preventDefault()); // no focus, and no frame, by the pointer
      row.addEventListener("click", press);
      row.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); press(); } });
      for (const [kind, shade] of [["pointerenter", 0.08], ["pointerleave", 0]]) row.addEventListener(kind, () => set(row, { "fill-opacity": shade }));
      hooks.push(() => set(row, { "aria-label": `layer ${layer} frozen`, "aria-pressed": isFrozen() }));
    }
    for (const token of [1, 2]) {
      const place = () => where.here[`input_${token}`];
      grip(`token ${token} at the start`, marker - 1, ([x]) => moveStart(token, x), (x, y) => where.go({ [`input_${token}`]: place() + 0.01 * (x || y) }), () => [
        inPlot("", [shown[0][0][0][token - 1], 0]), two(place()), `${two(place())} of the way from x₁ to x₂`]);
    }
    for (const layer of layers) {
      const [left, low] = inSquare(layer, [0, 0]), [right, high] = inSquare(layer, [1, 1]), i = layer - 1;
      const square = draw(hands, "rect", { x: left, y: high, width: right - left, height: low - high, fill: "transparent" });
      square.style.cssText = "pointer-events: all; cursor: grab";
      drag(square, host, { begin: (at) => { hold(); moveDot(layer, at); }, move: (at) => moveDot(layer, at), end: release });
      for (const token of [0, 1]) {
        const step = (x, y) => {
          const { places, shares } = here(), [s, u] = places[i];
          setLayer(layer, "free", shares[i].map((t, j) => (j === token ? t + 0.01 * (x || y) * (u < s === !token ? -1 : 1) : t)));
        };
        grip(`token ${token + 1} after layer ${layer}`, marker - 1, ([x]) => moveToken(layer, token, x), step, () => {
          const [places, shares] = shown[0], [s, u] = places[i], share = two(shares[i][token]);
          return abs(u - s) < 1e-6 || (local.causal && !token) ? null : [inPlot("", [places[layer][token], layer]), share, `${LETTERS[token]}${SMALL[i]} = ${share}`];
        });
      }
      const step = (x, y) => { const [mu, nu] = here().shares[i]; setLayer(layer, "free", [mu + 0.01 * x, nu + 0.01 * y]); };
      grip(`(μ, ν) of layer ${layer}`, marker + 2, (at) => moveDot(layer, at), step, () => {
        const shares = shown[0][1][i], said = shares.map((t, j) => `${LETTERS[j]}${SMALL[i]} = ${two(t)}`);
        return [inSquare(layer, shares), two(shares[+local.causal]), said.slice(+local.causal).join(", ")];
      }, !local.causal);
    }
  }

  // --- two networks: they go a way ---------------------------------------------------------------------

  function takeWay() {
    const { marker } = meta.look.sizes, now = () => way.movedAt(where.here.travel), every = samples.map((_, k) => k);
    const step = (x, y) => where.go({ travel: where.here.travel + (x || y) / SAMPLES });
    const walks = (pick, ks = every) => { const all = ks.map((k) => pick(samples[k])); return max(...all) - min(...all) > 0.03; };
    const said = () => { const come = where.here.travel.toFixed(2); return [come, `${come} of the way`]; };
    // The place of the way where something is nearest to the pointer.
    const goNearest = (seen, [x, y], ks = every) => {
      const pixels = ks.map((k) => seen(samples[k])), away = ([a, b], [u, v]) => hypot(u - a, v - b), last = ks.length - 1;
      const costs = pixels.map((at, n) => away(at, [x, y]) + 20 * abs(ks[n] / SAMPLES - where.here.travel)), best = costs.indexOf(min(...costs));
      const isAtEnd = pixels.slice(best).every((at) => away(at, pixels[last]) < 2); // where all that follows looks the same
      where.go({ travel: ks[isAtEnd ? last : best] / SAMPLES });
    };
    NAMES.forEach((name, side) => {
      const square = side ? "3" : "2", lines = side ? "4" : "", sharesOf = (one) => one[side].shares[now() - 1], near = () => every.filter((k) => way.movedAt(k / SAMPLES) === now());
      const move = (at) => goNearest((one) => inPlot(square, sharesOf(one)), at, near());
      grip(`(μ, ν) of ${name}`, marker + 4, move, step, () => (
        [0, 1].some((j) => walks((one) => sharesOf(one)[j], near())) ? [inPlot(square, shown[side][1][now() - 1]), ...said()] : null));
      for (let i = 0; i <= way.movedAt(1); i++) for (const j of [0, 1]) {
        const place = (one) => within(one[side].places[i][j], -AWAY, AWAY), [least, most] = layout[`xaxis${lines}`].range;
        if (!walks(place)) continue;
        const moved = ([x]) => goNearest((one) => [inPlot(lines, [place(one), i])[0], 0], [x, 0]);
        grip(`token ${j + 1} of ${name} ${i ? `after layer ${i}` : "at the start"}`, marker, moved, step, () => {
          const t = shown[side][0][i][j];
          return t < least || t > most ? null : [inPlot(lines, [t, i]), ...said()];
        });
      }
    });
  }

  // --- the picture: Python's parts, but for what moves -------------------------------------------------

  function grip(name, ring, moved, keyed, place, isFlat = false) {
    const one = handle(hands, { name, range: () => [0, 1], isFlat, ring, color: meta.look.colors.focus, scene: host, begin: hold, end: release, moved, keyed: (x, y) => { isNewHere = false; keyed(x, y); } });
    hooks.push(() => { const found = place(); if (found) one.to(...found); else one.hide(); });
  }

  // By the names of Python's traces.
  function moved() {
    const found = {}, columnsOf = (places) => [0, 1].map((j) => places.map((row) => row[j]));
    if (way) shown.forEach(([places, shares], k) => {
      const [mu, nu] = shares[way.movedAt(where.here.travel) - 1];
      columnsOf(places).forEach((x, j) => { found[`token ${j + 1} of ${NAMES[k]}`] = { x }; });
      found[`(P, Q) of ${NAMES[k]}`] = { x: [mu], y: [nu] };
    });
    if (way) return found;
    const [[places, shares]] = shown, modes = modesOf(local, where.here), columns = columnsOf(places), first = met(places), levels = places.map((_, i) => i);
    const equal = first < 0 ? [] : levels.slice(first), own = levels.filter((i) => i && modes[i - 1] !== "true"), gaps = (values) => own.flatMap((i) => [values[i - 1], values[i], null]);
    columns.forEach((x, j) => { found[`token ${j + 1}`] = found[`token ${j + 1} between the layers`] = { x }; });
    found["equal tokens"] = { x: equal.map((i) => places[i][0]), y: equal };
    found["layers that the reader sets"] = { x: columns.flatMap(gaps), y: [...gaps(levels), ...gaps(levels)] };
    found["(μ, ν) of the layers"] = { x: shares.map(([mu]) => mix(...local.map, mu)), y: shares.map(([, nu], i) => i + 1 - mix(LOW, TOP, nu)) };
    return found;
  }

  function paint() {
    frame = 0;
    if (!shown || !width) return;
    const { colors, sizes } = meta.look, places = moved(), mark = ([cx, cy], r, fill) => draw(moving, "circle", { cx, cy, r, fill, stroke: colors.focus, "stroke-width": 3 });
    moving.replaceChildren();
    for (const trace of data) if (trace.type !== "bar" && !trace.name.startsWith("meeting")) parts.drawTrace(moving, { ...trace, ...places[trace.name] });
    if (way) shown.forEach(([rows], side) => { const i = met(rows); if (i >= 0) mark(inPlot(side ? "4" : "", [rows[i][0], i]), sizes.marker + 4, "none"); });
    if (!way) shown[0][0][0].forEach((place, j) => {
      const [x, y] = inPlot("", [place, 0]);
      draw(moving, "text", { x, y: y - sizes.marker - 0.4 * sizes.base, fill: colors.ink, "font-size": sizes.base, "text-anchor": "middle" }).append(`x${SMALL[j]}`);
    });
    if (run !== null) for (const j of [0, 1]) {
      const [rows] = shown[0], i = min(Math.floor(run), rows.length - 2);
      mark(inPlot("", [mix(rows[i][j], rows[i + 1][j], run - i), run]), sizes.marker, j ? colors.ground : colors.focus);
    }
    for (const place of hooks) place();
    const hint = way ? "drag a dot along its way, or a token that moves" : "drag a token, at the start or below, or a dot; click a layer to freeze it";
    stand(host, note, where.isExact, talk.isAlone, true, isNewHere ? hint : layout.xaxis.title?.text ?? "");
  }

  function build() {
    const { colors, sizes, font } = meta.look, top = layout.template.layout.margin.t, low = 12 + (way ? 2.3 : 4.2) * sizes.note;
    hands.replaceChildren();
    for (const one of play ? [play.button, note] : []) one.remove();
    hooks = [];
    Object.assign(host.style, { height: `${height}px`, width: `${width}px`, background: colors.ground, color: colors.ink, position: "relative", fontFamily: font });
    set(over, { width, height });
    parts.place(layout, { left: SIDE, wide: width - 2 * SIDE, top, tall: height - top - low });
    if (way) takeWay(); else takeLayers();
    const count = local.forms.length, goes = { name: "go the way", seconds: 6, from: () => (where.here.travel > 0.99 ? 0 : where.here.travel), walk: (share) => where.go({ travel: share }) };
    play = player(host, { left: `${SIDE}px`, bottom: "2px" }, way ? goes : {
      name: "run down the layers", seconds: 1.2 * count, from: () => 0, walk: (share) => { run = share < 1 ? share * count : null; soon(); },
    });
    Object.assign(play.button.style, { background: colors.panel, color: colors.ink, border: `1px solid ${colors.axis}`, display: ["same", "outside"].includes(local.step) ? "none" : "" });
    note = write(host, { left: `${SIDE + 40}px`, bottom: "4px", color: colors.soft, fontSize: `${sizes.note}px`, pointerEvents: "none" });
  }

  const undo = talk.heard(() => where.follow());
  return {
    show(traces, next, wide) {
      const isNew = meta?.local !== next.meta.local, looks = JSON.stringify([next.meta.look, wide, next.height]);
      [data, layout, meta] = [traces, next, next.meta];
      if (isNew) {
        local = meta.local;
        way = local.step ? wayOf(local) : null;
        samples = way && Array.from({ length: SAMPLES + 1 }, (_, k) => way.at(k / SAMPLES));
      }
      if (isNew || looks !== built) {
        [built, width, height, run] = [looks, wide, layout.height, null];
        play?.stop();
        where.start();
        build();
      } else where.follow();
      const { colors } = meta.look, isOfAll = ({ text, font, xref }) => font?.color === colors.soft || text.startsWith("x<") || (!way && xref.startsWith("x2") && font.color !== colors.focus);
      const annotations = layout.annotations.filter(({ text }) => way || !text.startsWith("x<"));
      parts.show(data, { ...layout, annotations }, meta.look, (one) => !isOfAll(one));
      soon();
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

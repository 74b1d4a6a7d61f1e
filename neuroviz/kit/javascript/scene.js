// What all scenes share: SVG, words, handles that one drags or moves with the keyboard, and motion.

export const { abs, cos, hypot, max, min, PI, round, sin, sqrt } = Math;
const SVG = "http://www.w3.org/2000/svg";

export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

export function draw(parent, tag, attributes = {}) {
  return set(parent.appendChild(document.createElementNS(SVG, tag)), attributes);
}

// HTML at a place of the scene; `words` come from Python, as the figure's annotations do. The Tab key comes to the
// camera last.
export function write(parent, place, words = "", kind = "div") {
  const node = parent.insertBefore(document.createElement(kind), parent.querySelector(":scope > .nv-camera"));
  Object.assign(node.style, { position: "absolute", ...place });
  node.innerHTML = words;
  return node;
}

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// From 0 to 1 in so many milliseconds, a step each frame; returns what stops it.
export function tween(step, ms = 200) {
  if (isStill()) { step(1); return () => {}; }
  let frame, start;
  const next = (now) => {
    start ??= now;
    const share = min(1, (now - start) / ms);
    if (share < 1) frame = requestAnimationFrame(next);
    step(share * share * (3 - 2 * share));
  };
  frame = requestAnimationFrame(next);
  return () => cancelAnimationFrame(frame);
}

const to6 = (t) => round(t * 1e6) / 1e6; // as settings round

// The place that a scene shows: what its controls say, whoever moves them. `meta` is what Python said last.
export function placeOf(talk, meta, show) {
  let here = null, isOwn = false, isHeld = false, stop = () => {};
  const read = () => Object.fromEntries(Object.keys(meta().place).map((name) => {
    const value = talk.get(name);
    return [name, typeof value === "number" ? to6(value) : value];
  }));
  const same = (a, b) => Object.keys(a).every((name) => (typeof a[name] === "number" ? abs(a[name] - b[name]) < 1e-6 : a[name] === b[name]));
  const put = (place) => { here = place; show(here); };
  return {
    get here() { return here; },
    get isExact() { return same(meta().place, here); },
    range: (name) => meta().ranges[name],
    // Where something was dragged to: the nearest steps of the sliders.
    go(found) {
      const next = { ...here, ...found };
      for (const [name, [least, most, step]] of Object.entries(meta().ranges))
        next[name] = to6(max(least, min(most, least + round((next[name] - least) / step) * step)));
      if (same(next, here)) return;
      stop();
      put(next);
      isOwn = true;
      talk.set(next);
      isOwn = false;
    },
    // The controls have moved: by a slider, a preset, or Python. What jumps is followed on its way.
    follow() {
      if (isOwn || isHeld || !here) return;
      const next = read(), before = here, ranges = Object.entries(meta().ranges);
      if (same(next, before)) return;
      stop();
      const far = ranges.reduce((sum, [name, [least, most]]) => sum + abs(next[name] - before[name]) / (most - least), 0);
      const isWalk = Object.keys(next).every((name) => typeof next[name] === "number" || next[name] === before[name]);
      if (far < 0.02 || !isWalk) return put(next);
      stop = tween((share) => put(share === 1 ? next : { ...next, ...Object.fromEntries(
        ranges.map(([name]) => [name, before[name] + share * (next[name] - before[name])])) }));
    },
    start() { stop(); put(read()); },
    hold() { stop(); isHeld = true; },
    release() { isHeld = false; },
    stop: () => stop(),
  };
}

// Drags a node: `move` hears where the pointer is, in pixels of the scene, and how far it has come. A second finger does
// nothing: between two fingers what is dragged would jump.
export function drag(node, scene, { begin = () => {}, move, end = () => {} }) {
  let last = null, holds = null; // the pointer that began
  const place = (event) => {
    const box = scene.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  node.style.touchAction = "none";
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.stopPropagation();
    if (last) return;
    holds = event.pointerId;
    node.setPointerCapture(holds);
    last = place(event);
    begin(last);
  });
  node.addEventListener("pointermove", (event) => {
    if (!last || event.pointerId !== holds) return;
    const here = place(event), come = [here[0] - last[0], here[1] - last[1]];
    last = here;
    move(here, come);
  });
  const stop = (event) => {
    if (!last || event.pointerId !== holds) return;
    last = null;
    end();
  };
  node.addEventListener("pointerup", stop);
  node.addEventListener("lostpointercapture", stop);
}

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// Arrow keys on a node: `move` hears the steps to the right and up, ten at a time with Shift.
export function keys(node, move) {
  set(node, { tabindex: 0 });
  node.addEventListener("keydown", (event) => {
    const step = KEYS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    move(...step.map((t) => t * (event.shiftKey ? 10 : 1)));
  });
}

// A thing to take hold of: a ring in the focus colour, with room around it for a finger; `pressed` hears Enter. `range`
// gives the bounds of its value; of a flat one, which has two numbers, the words say both and the value is the first.
export function handle(parent, { name, range, isFlat = false, color, ring = 9, moved, keyed, pressed, begin, end, scene }) {
  const group = draw(parent, "g", { role: "slider", "aria-label": name, class: "nv-handle" });
  if (isFlat) set(group, { "aria-roledescription": "2D slider" });
  group.style.cssText = "pointer-events: all; cursor: grab; outline-offset: 2px";
  draw(group, "circle", { r: max(16, ring + 4), fill: "transparent" });
  draw(group, "circle", { r: ring, fill: "none", stroke: color, "stroke-width": 3 });
  drag(group, scene, {
    begin: (at) => {
      group.style.cursor = "grabbing";
      group.style.setProperty("outline", "none", "important"); // by the pointer: no frame around it
      group.focus({ preventScroll: true });
      begin?.(at);
    },
    move: moved,
    end: () => { group.style.cursor = "grab"; end?.(); },
  });
  for (const kind of ["keydown", "blur"]) group.addEventListener(kind, () => group.style.removeProperty("outline"), true);
  keys(group, keyed);
  if (pressed) group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); pressed(); } });
  return {
    to([x, y], value, words) {
      const [least, most] = range();
      set(group, { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, "aria-valuenow": value, "aria-valuetext": words });
      set(group, { "aria-valuemin": least, "aria-valuemax": most });
      group.style.display = "";
    },
    hide() { group.style.display = "none"; },
  };
}

// Where there is no kernel: the place is kept here, and Python's answer is that of the still on the page.
export function alone(place) {
  const values = {}, ears = new Set();
  const talk = {
    isAlone: true,
    get: (name) => values[name],
    set(next) { Object.assign(values, next); for (const listen of ears) listen(); },
    heard(listen) { ears.add(listen); return () => ears.delete(listen); },
  };
  talk.set(place);
  return talk;
}

// A button that plays a walk and stops it: `walk(share)` from 0 to 1; where motion is reduced, in a few steps.
export function player(parent, place, { name, seconds, from, walk }) {
  const button = write(parent, place, "▶", "button");
  set(button, { type: "button", "aria-label": name, title: name, class: "nv-play" });
  Object.assign(button.style, { width: "34px", height: "26px", padding: "0", cursor: "pointer" });
  let frame = 0, timer = 0;
  const stop = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = timer = 0;
    button.textContent = "▶";
  };
  const step = (share, last) => {
    walk(min(1, share));
    if (share >= 1) return stop();
    if (isStill()) timer = setTimeout(() => step(to6(share + 0.1)), 800); // ten times 0.1 is 1
    else frame = requestAnimationFrame((now) => step(share + (last ? now - last : 16) / (1000 * seconds), now));
  };
  button.addEventListener("click", () => {
    if (frame || timer) return stop();
    button.textContent = "❚❚";
    step(from());
  });
  return { button, stop };
}

// A button that saves the scene as it is seen, at twice its size, as plotly's camera does; seen by who points there.
const CAMERA = "<svg width='18' height='18' viewBox='0 0 16 16' fill='none' stroke='currentColor' stroke-width='1.3'><path d='M1.5 4.5h3l1.3-2h4.4l1.3 2h3v9h-13z'/><circle cx='8' cy='8.7' r='2.7'/></svg>";
export function camera(host, name) {
  const button = write(host, { top: "2px", right: "2px", padding: "3px", lineHeight: 0, border: "none", background: "none", color: "inherit", cursor: "pointer", opacity: 0 }, CAMERA, "button");
  const says = "save the picture as a PNG";
  set(button, { type: "button", "aria-label": says, title: says, class: "nv-camera" });
  for (const [kind, opacity] of [["pointerenter", 0.7], ["pointerleave", 0], ["focusin", 0.7], ["focusout", 0]]) host.addEventListener(kind, () => { button.style.opacity = opacity; });
  button.addEventListener("click", async () => {
    const link = document.createElement("a");
    Object.assign(link, { href: await pictureOf(host), download: `${name}.png` }).click();
  });
  return button;
}

// All that is drawn, as one SVG that the browser paints; what one presses is left out.
export async function pictureOf(host, format = "png", scale = 2) {
  const { width, height } = host.getBoundingClientRect(), copy = host.cloneNode(true), page = document.createElement("canvas");
  const isAhead = !!host.closest(".nv-ahead, .nv-old"); // then Python's words stay dimmed, and what says why stays
  for (const one of copy.querySelectorAll(isAhead ? "button" : "button, .nv-hint")) one.remove();
  if (isAhead) for (const one of copy.querySelectorAll(".nv-exact")) one.style.opacity = 0.35;
  const pages = host.querySelectorAll("canvas");
  copy.querySelectorAll("canvas").forEach((one, i) => {
    const still = document.createElement("img");
    still.src = pages[i].still?.() ?? pages[i].toDataURL();
    still.style.cssText = one.style.cssText;
    one.replaceWith(still);
  });
  const words = new XMLSerializer().serializeToString(copy), size = `width="${width}" height="${height}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><foreignObject ${size}>${words}</foreignObject></svg>`;
  const seen = Object.assign(new Image(), { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` });
  await seen.decode();
  Object.assign(page, { width: scale * width, height: scale * height }).getContext("2d").drawImage(seen, 0, 0, page.width, page.height);
  return page.toDataURL(`image/${format}`, 0.7); // WebP: small
}

// A number with two digits after the point, and a minus that is one.
export const number = (t) => (abs(t) < 0.005 ? "0" : t.toFixed(2).replace("-", "−"));

// 65 colours from −1 to 1, between the five of a scale.
export function shades(scale) {
  const codes = scale.map((code) => [1, 3, 5].map((i) => parseInt(code.slice(i, i + 2), 16)));
  return Array.from({ length: 65 }, (_, n) => {
    const place = n / 16, i = min(3, place | 0), share = place - i;
    return `rgb(${codes[i].map((t, k) => round(t + share * (codes[i + 1][k] - t))).join()})`;
  });
}

// A matrix as cells, with numbers where there is room for them; colour says sign and size.
export function matrix(parent, rows, [x, y], [wide, high], { colors, diverging, sizes, most, hasNumbers = true }) {
  rows.forEach((row, i) => row.forEach((value, j) => {
    const at = { x: x + j * wide, y: y + i * high, width: wide, height: high };
    const fill = diverging[value < 0 ? 0 : diverging.length - 1], share = min(1, abs(value) / (most || 1));
    draw(parent, "rect", { ...at, fill: colors.panel, stroke: colors.axis });
    draw(parent, "rect", { ...at, fill, "fill-opacity": (hasNumbers ? 0.4 : 1) * share });
    if (!hasNumbers) return;
    const text = draw(parent, "text", { x: at.x + wide / 2, y: at.y + high / 2, fill: colors.ink });
    set(text, { "font-size": sizes.note, "text-anchor": "middle", "dominant-baseline": "central" });
    text.textContent = number(value);
  }));
}

// Say below the picture what there is to know of it. In a page without Python dim what only Python says; with Python the
// panel itself knows what is out of date (kit/javascript/status.js).
export function stand(host, note, isExact, isAlone, hasSpace, hint) {
  (host.closest(".nv, .nv-panel") ?? host).classList.toggle("nv-ahead", isAlone && !isExact);
  note.classList.add("nv-hint");
  note.textContent = !hasSpace ? "No 3-D picture: this browser has no WebGL."
    : isAlone && !isExact ? "what is dimmed only Python says: it needs Live, or the notebook" : hint;
}

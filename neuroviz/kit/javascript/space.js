// A scene in space: the meshes of a figure, drawn by WebGL, and a camera that one turns. What plotly calls mesh3d.
import { abs, cos, drag, draw, hypot, keys, max, min, PI, set, sin, write } from "./scene.js";

// Light is reckoned at the corners: without a graphics card a pixel is dear.
const VERTEX = `#version 300 es
layout(location = 0) in vec3 at; layout(location = 1) in vec3 normal; layout(location = 2) in vec3 colour;
uniform mat4 view, model; uniform vec3 eye, sun; uniform vec3 light; out vec4 paint;
void main() {
  vec4 here = model * vec4(at, 1.0);
  vec3 n = normalize(mat3(model) * normal);
  if (dot(n, eye - here.xyz) < 0.0) n = -n;
  paint = vec4(colour * (light.x + 0.55 * light.y * max(dot(n, sun), 0.0)), 1.0) * light.z;
  gl_Position = view * here;
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 paint; out vec4 colour;
void main() { colour = paint; }`;

const minus = (a, b) => a.map((t, i) => t - b[i]);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => { const n = Math.sqrt(dot(a, a)) || 1; return a.map((t) => t / n); };
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const LENS = Math.tan(PI / 8), NEAR = 0.05, FAR = 60;
const WIDTH = 1.25; // of a drawing at most, in heights of the picture: as camera.py fits it
const FILLED = 0.96; // of the picture at most, when it is turned
const rgb = (code) => [1, 3, 5].map((i) => parseInt(code.slice(i, i + 2), 16) / 255);

// A browser gives a page 16 contexts, and takes the oldest away for the next one. So many of ours there are at once: those
// in sight, and those that were seen last; the others sleep behind a picture of theirs.
const MOST_AWAKE = 8, awake = new Set();

// The plotly camera looks at a scene of half the size.
export function cameraOf({ eye, center }) {
  const at = [center.x, center.y, center.z].map((t) => 2 * t), away = minus([eye.x, eye.y, eye.z].map((t) => 2 * t), at);
  const distance = Math.sqrt(dot(away, away));
  return { at, distance, zoom: 1, turn: Math.atan2(away[1], away[0]), tilt: Math.asin(away[2] / distance) };
}

export function spaceIn(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, powerPreference: "low-power" });
  const again = () => space.render(seenLast, false); // for who takes the picture: what was drawn before is gone
  canvas.still = () => { if (isAsleep) return asleepAs; again(); return canvas.toDataURL(); };
  addEventListener("beforeprint", again);
  let camera = { at: [0, 0, 0], distance: 4, zoom: 1, turn: 0, tilt: 0.3 }, outline = [], outlined, eye, right, up, ahead, view, wide = 1, tall = 1;
  const known = new Map(); // trace → its mesh on the graphics card
  let shown = [], traces = [], seenLast = {}, program, uniforms, background = [1, 1, 1], last = 0, pace = 16, isSlow = false, rest = 0, isOver = false;
  let isInSight = false, isAsleep = false, isWanted = false, hasHeard = true, asleepAs = "";
  const lender = gl?.getExtension("WEBGL_lose_context");
  const one = {
    get mayRest() { return !isInSight; },
    rest() {
      asleepAs = shown.length ? canvas.still() : "data:,";
      isAsleep = true;
      canvas.style.background = `url(${asleepAs}) 0 0 / 100% 100%`;
      [isWanted, hasHeard] = [false, false];
      awake.delete(one);
      lender.loseContext();
    },
  };
  function wake() {
    if (!lender || isOver) return;
    awake.delete(one);
    awake.add(one); // the last seen stands last
    if (isAsleep) {
      [isAsleep, isWanted] = [false, true];
      if (hasHeard) lender.restoreContext();
    }
    for (const other of [...awake]) if (awake.size > MOST_AWAKE && other !== one && other.mayRest) other.rest();
  }
  const sight = new IntersectionObserver((entries) => {
    isInSight = entries[entries.length - 1].isIntersecting;
    if (isInSight) wake();
  }, { rootMargin: "300px" });
  sight.observe(canvas);

  function prepare() {
    program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    uniforms = Object.fromEntries(["view", "model", "eye", "sun", "light"].map((name) => [name, gl.getUniformLocation(program, name)]));
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }
  if (gl) prepare();
  // A graphics card that was taken away, by sleep or by too many pictures, comes back empty.
  canvas.addEventListener("webglcontextlost", (event) => {
    if (isOver) return;
    event.preventDefault();
    hasHeard = true; // a browser gives nothing back before
    if (isWanted) setTimeout(() => lender.restoreContext());
  });
  canvas.addEventListener("webglcontextrestored", () => {
    known.clear();
    isWanted = false;
    prepare();
    show();
    space.render(seenLast);
    canvas.style.background = "";
  });

  function upload({ x, y, z, i, j, k, color, intensity, colorscale, cmin, cmax, lighting, opacity = 1 }) {
    const count = x.length, at = new Float32Array(3 * count), normal = new Float32Array(3 * count);
    for (let n = 0; n < count; n++) { at[3 * n] = x[n]; at[3 * n + 1] = y[n]; at[3 * n + 2] = z[n]; }
    const faces = new Uint32Array(3 * i.length);
    for (let n = 0; n < i.length; n++) {
      const corners = [i[n], j[n], k[n]], [a, b, c] = corners.map((m) => [x[m], y[m], z[m]]);
      const across = cross(minus(b, a), minus(c, a));
      corners.forEach((m, place) => { faces[3 * n + place] = m; for (let t = 0; t < 3; t++) normal[3 * m + t] += across[t]; });
    }
    const colour = new Float32Array(3 * count), stops = colorscale?.map(([at, code]) => [at, rgb(code)]);
    for (let n = 0; n < count; n++) {
      if (!stops) { colour.set(rgb(color), 3 * n); continue; }
      const share = min(1, max(0, (intensity[n] - cmin) / (cmax - cmin)));
      const high = max(1, stops.findIndex(([at]) => share <= at)), [[a, one], [b, other]] = [stops[high - 1], stops[high]];
      colour.set(one.map((t, m) => t + ((share - a) / (b - a)) * (other[m] - t)), 3 * n);
    }
    const array = gl.createVertexArray(), buffers = [];
    gl.bindVertexArray(array);
    [at, normal, colour].forEach((numbers, place) => {
      buffers.push(gl.createBuffer());
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[place]);
      gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 0, 0);
    });
    buffers.push(gl.createBuffer());
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[3]);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    const { ambient = 0.8, diffuse = 0.42 } = lighting ?? {};
    return { array, buffers, count: faces.length, light: [ambient, diffuse, opacity] };
  }

  function look() {
    const { at, turn, tilt } = camera, c = cos(tilt);
    const away = [c * cos(turn), c * sin(turn), sin(tilt)];
    ahead = away.map((t) => -t);
    right = unit(cross(ahead, [0, 0, 1]));
    up = cross(right, ahead);
    // In a narrow place, and where a turn would cut the drawing, from further away.
    const whole = outline.map((p) => dot(p, away) + max((abs(dot(p, right)) * tall) / wide, abs(dot(p, up))) / (FILLED * LENS));
    const distance = camera.zoom * max(camera.distance * max(1, (WIDTH * tall) / wide), ...whole);
    eye = at.map((t, n) => t + distance * away[n]);
    const a = 1 / LENS, b = (a * tall) / wide, depth = (FAR + NEAR) / (FAR - NEAR), shift = (2 * FAR * NEAR) / (FAR - NEAR);
    view = [0, 1, 2].flatMap((n) => [b * right[n], a * up[n], depth * ahead[n], ahead[n]]);
    view.push(-b * dot(right, eye), -a * dot(up, eye), -depth * dot(ahead, eye) - shift, -dot(ahead, eye));
  }

  function show() {
    shown = traces.map((trace) => {
      if (!known.has(trace)) known.set(trace, upload(trace));
      return known.get(trace);
    });
  }

  const space = {
    isThere: !!gl,
    get camera() { return camera; },
    set camera(found) { camera = found; look(); },
    resize(width, height) {
      [wide, tall] = [width, height];
      Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
      look();
    },
    // Mesh traces; those of the last time are on the graphics card already.
    show(found, ground) {
      if (!gl) return;
      [traces, background] = [found, rgb(ground)];
      const largest = traces.reduce((a, b) => (b.x.length > a.x.length ? b : a)), { x, y, z } = largest, each = Math.ceil(x.length / 400);
      if (outlined !== largest) outline = x.flatMap((t, n) => (n % each ? [] : [minus([t, y[n], z[n]], camera.at)]));
      outlined = largest;
      look();
      for (const [trace, mesh] of known) if (!traces.includes(trace)) {
        gl.deleteVertexArray(mesh.array);
        mesh.buffers.forEach((one) => gl.deleteBuffer(one));
        known.delete(trace);
      }
      show();
    },
    // Draws what is shown; `models` are matrices by the number of the trace, for what moves without a new mesh.
    // Twice as many pixels each way make smooth edges; a machine that is slow has them when nothing moves.
    render(models = {}, isMoving = true) {
      if (!gl || gl.isContextLost()) return;
      const now = performance.now(), gap = now - last;
      [last, seenLast] = [now, models];
      if (gap < 100) pace += 0.1 * (gap - pace);
      isSlow ||= pace > 22;
      clearTimeout(rest);
      if (isSlow && isMoving) rest = setTimeout(() => space.render(models, false), 150);
      const dense = isSlow && isMoving ? 1 : 2, width = Math.round(dense * wide), height = Math.round(dense * tall);
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(...background, 1);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.useProgram(program);
      gl.uniformMatrix4fv(uniforms.view, false, view);
      gl.uniform3fv(uniforms.eye, eye);
      gl.uniform3fv(uniforms.sun, unit([2, -6, 9]));
      const order = shown.map((mesh, place) => [mesh, place]).sort(([a], [b]) => b.light[2] - a.light[2]);
      for (const [mesh, place] of order) {
        if (models[place] === null) continue;
        const isClear = mesh.light[2] < 1; // drawn last, over what is behind it
        (isClear ? gl.enable : gl.disable).call(gl, gl.BLEND);
        gl.depthMask(!isClear);
        gl.uniformMatrix4fv(uniforms.model, false, models[place] ?? IDENTITY);
        gl.uniform3fv(uniforms.light, mesh.light);
        gl.bindVertexArray(mesh.array);
        gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
      }
      gl.depthMask(true);
    },
    // Where a point is seen, in pixels of the canvas.
    project(p) {
      const away = minus(p, eye), depth = dot(away, ahead) * LENS;
      return [(wide + (tall * dot(away, right)) / depth) / 2, (tall * (1 - dot(away, up) / depth)) / 2];
    },
    // From the eye through a pixel.
    ray([x, y]) {
      const a = (LENS * (2 * x - wide)) / tall, b = LENS * (1 - (2 * y) / tall);
      return { from: eye, toward: ahead.map((t, n) => t + a * right[n] + b * up[n]) };
    },
    turn(x, y) {
      const tilt = max(-1.5, min(1.5, camera.tilt + 0.01 * y));
      this.camera = { ...camera, turn: camera.turn - 0.01 * x, tilt };
    },
    zoom(factor) { this.camera = { ...camera, zoom: max(0.2, min(5, camera.zoom * factor)) }; },
    forget() { isOver = true; sight.disconnect(); awake.delete(one); removeEventListener("beforeprint", again); clearTimeout(rest); gl?.getExtension("WEBGL_lose_context")?.loseContext(); },
  };
  wake();
  return space;
}

// A space in a scene: its canvas, which one turns, and the labels beside what they name. `name` is said of it,
// `changed` hears that it has to be painted, `clicked` where it was clicked.
export function viewIn(host, over, { name, changed, clicked = () => {} }) {
  const canvas = host.insertBefore(document.createElement("canvas"), over), space = spaceIn(canvas);
  const leaders = draw(over, "g");
  let box = { left: 0, top: 0 }, labels = [], from = null, far = 0, seenAs = null, first;
  canvas.style.cssText = "position: absolute; cursor: move";
  set(canvas, { role: "application", "aria-label": `${name}: arrow keys turn it, + and - bring it near, Home puts it back` });
  drag(canvas, host, {
    begin: (at) => {
      [from, far] = [at, 0];
      canvas.style.setProperty("outline", "none", "important"); // by the pointer: no frame around it
      canvas.focus({ preventScroll: true });
    },
    move: (at, [x, y]) => { far += hypot(x, y); space.turn(x, y); changed(); },
    end: () => { if (far < 4) clicked([from[0] - box.left, from[1] - box.top]); },
  });
  keys(canvas, (x, y) => { space.turn(-8 * x, -8 * y); changed(); });
  const back = () => { space.camera = first; changed(); };
  const near = { "+": () => space.zoom(0.9), "=": () => space.zoom(0.9), "-": () => space.zoom(1.1), Home: back };
  canvas.addEventListener("keydown", (event) => {
    if (!near[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    near[event.key]();
    changed();
  });
  canvas.addEventListener("dblclick", back);
  for (const kind of ["keydown", "blur"]) canvas.addEventListener(kind, () => canvas.style.removeProperty("outline"));
  // Two fingers that move apart; a wheel alone scrolls the page, as ever.
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    space.zoom(Math.exp(0.01 * max(-20, min(20, event.deltaY))));
    changed();
  }, { passive: false });
  const bare = () => { for (const label of labels.splice(0)) { label.remove(); label.leader.remove(); } };
  const seen = (p) => { const [x, y] = space.project(p); return [x + box.left, y + box.top]; };
  return {
    space,
    seen,
    pixel: ([x, y]) => [x - box.left, y - box.top],
    // Where it is in the scene, in pixels; and a label for each of the figure's.
    place(found, scene, { colors }) {
      box = found;
      Object.assign(canvas.style, { left: `${box.left}px`, top: `${box.top}px` });
      space.resize(box.wide, box.tall);
      canvas.style.display = "";
      bare();
      const halo = Array(5).fill(`0 0 3px ${colors.ground}`).join(), look = { textAlign: "center", whiteSpace: "nowrap", pointerEvents: "none" };
      labels = (scene.annotations ?? []).filter(({ text, visible }) => text.trim() && visible !== false).map((of) => Object.assign(
        write(host, { ...look, textShadow: halo, transform: "translate(-50%, -50%)" }, of.text),
        { of, leader: draw(leaders, "line", { stroke: colors.soft, "stroke-width": 1.5 }) }));
    },
    hide() { canvas.style.display = "none"; bare(); }, // until it has a place again
    show(meshes, scene, ground) {
      first = cameraOf(scene.camera);
      if (seenAs !== scene.uirevision) space.camera = first;
      seenAs = scene.uirevision; // while it stays, the camera stays where the reader turned it
      space.show(meshes, ground);
    },
    paint(models) {
      space.render(models);
      const inSight = []; // of labels that a turn brings over one another the first stays
      for (const label of labels) {
        const { x, y, z, ax, ay } = label.of, at = seen([x, y, z]), end = [at[0] + ax, at[1] + ay];
        Object.assign(label.style, { left: `${end[0]}px`, top: `${end[1]}px` });
        label.half ??= [label.offsetWidth / 2 + 3, label.offsetHeight / 2 + 1];
        const share = min(1, ...label.half.map((t, n) => t / (abs(n ? ay : ax) || 1))); // as far as the words
        set(label.leader, { x1: at[0], y1: at[1], x2: end[0] - share * ax, y2: end[1] - share * ay });
        const isFree = inSight.every((one) => one.half.some((t, n) => abs(one.end[n] - end[n]) > t + label.half[n] - 6));
        label.style.visibility = label.leader.style.visibility = isFree ? "" : "hidden";
        if (isFree) inSight.push({ end, half: label.half });
      }
    },
  };
}

// The matrix that takes a unit ball, or the rod from −1 to 1 on the z axis, to its place.
export function ballAt([x, y, z], radius) { return [radius, 0, 0, 0, 0, radius, 0, 0, 0, 0, radius, 0, x, y, z, 1]; }
export function rodFrom(a, b, radius) {
  const along = minus(b, a).map((t) => t / 2), way = unit(along), aside = unit(cross(way, abs(way[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  const other = cross(way, aside), middle = a.map((t, n) => (t + b[n]) / 2);
  return [...aside.map((t) => radius * t), 0, ...other.map((t) => radius * t), 0, ...along, 0, ...middle, 1];
}

// A unit ball and a unit rod, as traces.
export function grid(rows, columns, at, color) {
  const trace = { x: [], y: [], z: [], i: [], j: [], k: [], color };
  for (let r = 0; r <= rows; r++) for (let c = 0; c < columns; c++) {
    const [x, y, z] = at(r / rows, (2 * PI * c) / columns), here = r * columns + c, beside = r * columns + ((c + 1) % columns);
    trace.x.push(x); trace.y.push(y); trace.z.push(z);
    if (r === rows) continue;
    trace.i.push(here, beside); trace.j.push(beside, beside + columns); trace.k.push(here + columns, here + columns);
  }
  return trace;
}
export const ball = (color) => grid(10, 16, (t, phi) => [sin(PI * t) * cos(phi), sin(PI * t) * sin(phi), cos(PI * t)], color);
export const rod = (color) => grid(1, 10, (t, phi) => [cos(phi), sin(phi), 2 * t - 1], color);

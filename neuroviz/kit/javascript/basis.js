// C in GL_a as what it does to two directions of a plane; its walk is gone by the ring at the end of one of them.
import { draw, handle, max, min, number, PI, round } from "./scene.js";

const REACH = { rotation: [1.15, 1.15, 1.15], stretch: [3.1, 3.1, 0.15], shear: [1.6, 1.15, 0.15] }; // right, up, down
const tipOf = (walk, s) => ({ rotation: [Math.cos((PI / 2) * s), Math.sin((PI / 2) * s)], stretch: [3 ** s, 0], shear: [1.5 * s, 1] })[walk];

// The plane fills a box of the scene; `where` is its place, `hook` what a handle needs beside the name.
export function basisIn(lines, words, hooks, { walk, a, look, box: { left, top, wide, tall }, where, hook }) {
  const { colors, sizes } = look, isSeen = a > 1 || walk === "stretch", reach = REACH[walk];
  const [far, up, down] = a > 1 ? reach : [reach[0], 0.15, 0.15], back = walk === "stretch" ? 0.15 : far;
  const scale = min(wide / (far + back), tall / (up + down)), zero = [left + back * scale, top + up * scale];
  const inPlane = ([u, v]) => [zero[0] + scale * u, zero[1] - scale * v];
  const says = draw(words, "text", { x: left, y: top - 8, fill: colors.ink, "font-size": sizes.base });
  let arrows, ring;
  if (isSeen) {
    const path = Array.from({ length: 41 }, (_, n) => inPlane(tipOf(walk, n / 20 - 1)).map((t) => t.toFixed(1)).join());
    draw(lines, "polyline", { points: path.join(" "), fill: "none", stroke: colors.focus, "stroke-opacity": 0.4, "stroke-width": 5, "stroke-linecap": "round" });
    arrows = [0, 1].slice(0, min(a, 2)).map(() => draw(lines, "line", { x1: zero[0], y1: zero[1], stroke: colors.ink, "stroke-width": sizes.line, "stroke-linecap": "round" }));
    ring = handle(hooks, {
      name: `C, along the ${walk}`, range: () => where.range("along"), ring: 1.1 * sizes.marker, color: colors.focus, ...hook,
      moved: ([x, y]) => {
        const [X, Y] = [(x - zero[0]) / scale, (zero[1] - y) / scale];
        where.go({ along: { rotation: Math.atan2(Y, X) / (PI / 2), stretch: Math.log(max(X, 0.1)) / Math.log(3), shear: X / 1.5 }[walk] });
      },
      keyed: (x, y) => { hook.keyed?.(); where.go({ along: where.here.along + 0.02 * (x || y) }); },
    });
  }
  return (C, along) => {
    const factors = `× ${number(3 ** along)}${a > 1 ? `, × ${number(3 ** -along)}` : ""}`;
    says.textContent = isSeen ? `C: ${{ rotation: `turned by ${round(90 * along)}°`, stretch: factors, shear: `slanted by ${number(1.5 * along)}` }[walk]}`.replace("-", "−") : `GL₁ has no ${walk}`;
    arrows?.forEach((one, n) => { const [x2, y2] = inPlane([C[0][n], C[1]?.[n] ?? 0]); one.setAttribute("x2", x2); one.setAttribute("y2", y2); });
    const n = +(walk === "shear");
    ring?.to(inPlane([C[0][n], C[1]?.[n] ?? 0]), along, `${along.toFixed(2)} along the ${walk}`);
  };
}

// What the panels' figures need of plotly.js: scatter (in its core), bars and heat maps; what has depth is a scene.
import annotations from "plotly.js/src/components/annotations";
import Plotly from "plotly.js/lib/core";
import bar from "plotly.js/lib/bar";
import heatmap from "plotly.js/lib/heatmap";

Plotly.register([bar, heatmap]);

// plotly.js draws all words anew, twice, at each step of a slider, near half of its script: what says the same in the
// same place stays, and words are measured where an axis looks for its range.
const { calcAutorange: measure, draw: drawAll } = annotations;
annotations.calcAutorange = (gd) => (Object.entries(gd._fullLayout).some(([name, axis]) => /^[xy]axis/.test(name) && axis.autorange) ? measure(gd) : undefined);
annotations.draw = (gd) => {
  const { annotations: all, _infolayer: layer, _size: { l, t, w, h }, ...axes } = gd._fullLayout, node = layer.node();
  const nodeOf = (i) => node.querySelector(`:scope > .annotation[data-index="${i}"]`), before = gd.neurovizWords ?? [];
  const placeOf = (ref) => {
    const axis = ref === "paper" ? null : axes[`${ref[0]}axis${ref.split(" ")[0].slice(1)}`];
    return axis && [axis.type, axis.range, axis._offset, axis._length];
  };
  const now = all.map((one) => JSON.stringify([placeOf(one.xref), placeOf(one.yref), l, t, w, h, one], (key, value) => (key[0] === "_" ? undefined : value)));
  gd.neurovizWords = now;
  if (!before.length || before.length !== now.length || node.querySelectorAll(":scope > .annotation").length > now.length) return drawAll(gd);
  const changed = now.flatMap((one, i) => (one === before[i] && (nodeOf(i) || !all[i].visible) ? [] : [i]));
  for (const i of changed) {
    nodeOf(i)?.remove();
    if (all[i].visible) annotations.drawOne(gd, i);
  }
  if (changed.length) now.forEach((_, i) => { const one = nodeOf(i); if (one) node.append(one); }); // in their order
};

export default Plotly;

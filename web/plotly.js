// What the panels' figures need of plotly.js: scatter (in its core), bars and heat maps; what has depth is a scene.
import d3 from "@plotly/d3";
import annotations from "plotly.js/src/components/annotations";
import schema from "plotly.js/src/plot_api/plot_schema";
import axes from "plotly.js/src/plots/cartesian/axes";
import scatter from "plotly.js/src/traces/scatter";
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

// It draws all axes and traces anew, too. What was drawn keeps what it was drawn from; where that is the same, it stays.
const keyOf = (...all) => JSON.stringify(all, (name, value) => (name[0] === "_" ? undefined : value));
const axisKey = ({ _fullLayout: { _plots, width, height, font, separators }, _fullData }, axis) => {
  const across = axis._subplotsWith.flatMap((id) => [_plots[id].xaxis, _plots[id].yaxis])
    .map(({ _offset, _length, showline, linewidth, mirror }) => [_offset, _length, showline, linewidth, mirror]);
  const kinds = _fullData.map(({ type, fill, xaxis, yaxis, visible, orientation }) => [type, fill, xaxis, yaxis, visible, orientation]);
  const place = [axis._offset, axis._length, axis._mainLinePosition, axis._mainMirrorPosition, axis._categories];
  return keyOf(axis, place, across, kinds, width, height, font, separators);
};
const drawAxes = axes.draw;
axes.draw = (gd, which, options) => {
  const all = axes.list(gd), before = gd.neurovizAxes ?? {};
  gd.neurovizAxes = {};
  if (which !== "redraw") return drawAxes(gd, which, options);
  const changed = all.filter((axis) => before[axis._id] !== (gd.neurovizAxes[axis._id] = axisKey(gd, axis)));
  for (const axis of all.filter((one) => !changed.includes(one))) {
    axis.setScale();
    axis._r = [...axis.range];
    axis._rl = axis._r.map((value) => axis.r2l(value));
  }
  if (changed.length === all.length) return drawAxes(gd, which, options);
  for (const { _id: id } of changed) {
    const drawn = [`.${id}tick`, `.${id}tick2`, `.${id}divider`, `.gridlayer .${id} path`, `.minor-gridlayer .${id} path`, `.${id}zl`, `.g-${id}title`];
    for (const node of gd.querySelectorAll(drawn.join())) node.remove();
  }
  return changed.length ? drawAxes(gd, changed.map(({ _id }) => _id), options) : undefined;
};

// A node as d3 sees it, without what stays below it.
const without = (kept, node) => Object.create(node, {
  ownerDocument: { value: document },
  classList: { value: node.classList },
  querySelectorAll: { value: (selector) => [...node.querySelectorAll(selector)].filter((one) => !kept.some((group) => group.contains(one))) },
});

function keepDrawn(module, { alone }) { // `alone`: a trace does not depend on the others
  const { plot, style } = module, kept = new WeakMap();
  module.plot = (gd, plotinfo, all, layer, ...transition) => {
    const node = layer.node();
    const groups = () => all.map(([{ trace }]) => [...node.children].find(({ __data__: drawn }) => drawn?.[0].trace.uid === trace.uid));
    const others = Object.entries(gd.layout).filter(([name]) => !/^([xy]axis|annotations$|shapes$)/.test(name));
    const places = [plotinfo.xaxis, plotinfo.yaxis].map(({ type, range, _offset, _length, _categories }) => [type, range, _offset, _length, _categories]);
    const common = JSON.stringify([others, places]), keys = all.map(([{ trace }]) => common + trace.index + JSON.stringify(trace._input));
    const before = groups(), isSame = keys.map((key, i) => before[i]?.neurovizKey === key && !/"(pattern|gradient)"/.test(key)); // these are lost at each step
    const isWhole = transition[0] || before.includes(undefined) || node.children.length !== all.length || (!alone && isSame.includes(false))
      || all.some(([{ trace }]) => trace.stackgroup || /^tonext/.test(trace.fill));
    const stay = isWhole ? [] : before.filter((_, i) => isSame[i]);
    if (isWhole) plot(gd, plotinfo, all, layer, ...transition);
    else if (stay.length < all.length) plot(gd, plotinfo, all.filter((_, i) => !isSame[i]), d3.select(without(stay, node)));
    const now = groups();
    if (now.some((group, i) => i && now[i - 1]?.nextSibling !== group)) node.append(...now.filter((group) => group));
    now.forEach((group, i) => group && (group.neurovizKey = keys[i]));
    kept.set(gd, [...(kept.get(gd) ?? []), ...stay]);
  };
  if (style) module.style = (gd) => {
    style(without(kept.get(gd) ?? [], gd));
    kept.delete(gd);
  };
}
keepDrawn(scatter, { alone: true });
keepDrawn(heatmap, { alone: true });
keepDrawn(bar, { alone: false });

// It looks through all attributes of every trace for those that are lists, which only a tooltip asks for.
const { findArrayAttributes } = schema;
schema.findArrayAttributes = (trace) => {
  let found;
  return new Proxy([], { get: (_, name) => (found ??= findArrayAttributes(trace))[name] });
};

export default Plotly;

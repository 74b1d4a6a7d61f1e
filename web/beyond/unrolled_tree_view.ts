/** The tree of the layers, over the term that it gives. */
import { scaleLinear } from "d3-scale";
import { pointer } from "d3-selection";
import { line } from "d3-shape";
import type { Look, Point, Role } from "../kit/picture";
import { classOf, textLines, viewIn } from "../kit/view";
import type { UnrolledFacts } from "./unrolled_facts";
import type { Leaves } from "./unrolled_places";
import { grow, type Node } from "./unrolled_tree";

const FINGER = 22; // pixels around a node that belong to it
const LEAF = 2.5; // pixels
const GAP = 3; // pixels between a name and the tree

export function treeView(host: HTMLElement, picked: (place: number) => void) {
  const { svg, size, measured, headline } = viewIn(host, "tree");
  const wash = svg.append("rect").attr("class", "wash");
  const edges = svg.append("g").attr("class", "role-soft");
  const leaves = svg.append("g").attr("class", "role-ink");
  const nodes = svg.append("g");
  const names = svg.append("g");
  const here = svg.append("circle").attr("class", "ring");
  let tree: Node[] = [];
  let seen: (node: Pick<Node, "x" | "layer">) => Point;
  let radius: (node: Node) => number;

  svg.on("click", (event: MouseEvent) => {
    const [x, y] = pointer(event, svg.node());
    const far = (node: Node) => Math.hypot(seen(node)[0] - x, seen(node)[1] - y);
    const near = [...tree].sort((one, other) => far(one) - far(other))[0];
    if (far(near) <= FINGER) picked(near.place);
  });

  return {
    headline,
    size,
    measured,

    /** What does not move; behind the key there is a wash, which goes down below the tree. */
    draw({ formulas }: UnrolledFacts, x: Leaves, { sizes }: Look, washEnd: number) {
      const { layers } = formulas;
      const [, height] = measured();
      const isNarrow = host.classList.contains("narrow");
      tree = grow(layers);
      const most = (sizes.marker + 4 + 2 * layers) / 2;
      const low = height - (isNarrow ? 1.6 * sizes.note : LEAF + 5);
      const y = scaleLinear([0, layers], [low, most + 5 + (isNarrow ? sizes.note : 0)]);
      // Large nodes of many layers would touch.
      const room = 0.42 * (y(0) - y(1));
      radius = ({ layer }) => Math.min(room, (sizes.marker + 4 + 2 * layer) / 2);
      seen = (node) => [x(node.x), y(node.layer)];

      const third = 3 ** (layers - 1);
      const [left, right] = [x(third - 0.5), x(2 * third - 0.5)];
      const top = y(layers - 0.75);
      wash
        .attr("x", left)
        .attr("width", right - left)
        .attr("y", top)
        .attr("height", washEnd - top);
      drawEdges();
      leaves
        .selectAll("circle")
        .data(Array.from({ length: 3 ** layers }, (_, n) => n))
        .join("circle")
        .attr("cx", (n) => x(n))
        .attr("cy", y(0))
        .attr("r", Math.min(LEAF, 0.3 * (x(1) - x(0))));
      nodes
        .selectAll("circle")
        .data(tree)
        .join("circle")
        .attr("class", ({ layer }) => `node ${classOf(`layer ${layer}` as Role)}`)
        .attr("cx", (node) => seen(node)[0])
        .attr("cy", (node) => seen(node)[1])
        .attr("r", radius);
      drawNames(layers, isNarrow, sizes.note);
    },

    /** The layer whose M stands at the place that is pointed at. */
    move(focus: number) {
      const node = tree.find(({ place }) => place === focus)!;
      const [cx, cy] = seen(node);
      here
        .attr("cx", cx)
        .attr("cy", cy)
        .attr("r", radius(node) + 3.5);
    },
  };

  function drawEdges() {
    const to = (node: Node, x: number) => line()([seen(node), seen({ x, layer: node.layer - 1 })]);
    const solid = tree.flatMap((node) => {
      return [node.children.value, node.children.query].map((x) => to(node, x));
    });
    const dotted = tree.map((node) => to(node, node.children.key));
    edges.selectAll("*").remove();
    edges.append("path").attr("d", solid.join(""));
    edges.append("path").attr("class", "dotted").attr("d", dotted.join(""));
  }

  /** Down the tree: where its drawing begins at each height. */
  function leftEdge(layers: number) {
    const firsts = Array.from({ length: layers + 1 }, (_, layer) => {
      const places = tree.filter((node) => node.layer === layer).map(({ x }) => x);
      return seen({ x: Math.min(...(layer ? places : [0])), layer });
    });
    return scaleLinear(
      firsts.map(([, y]) => y),
      firsts.map(([x]) => x),
    ).clamp(true);
  }

  function drawNames(layers: number, isNarrow: boolean, note: number) {
    names.selectAll("*").remove();
    const outline = leftEdge(layers);
    for (let layer = 0; layer <= layers; layer++) {
      const [, y] = seen({ x: 0, layer });
      const name = layer ? `layer ${layer}` : "copies of X";
      const isOverValue = layer === layers - 1;
      const above = isOverValue ? 1.6 * note : 1.2 * note;
      const beside = isNarrow ? (layer ? -above : note) : 0;
      textLines(names, [0, y + beside], [name], { role: "soft" });
      const text = names.select<SVGTextElement>("text:last-child");
      const { x: left, y: top, width, height } = text.node()!.getBBox();
      const bottom = y + beside + top + height;
      // A name that would lie on the tree is left out.
      if (layer && left + width + GAP > outline(bottom)) text.remove();
    }
    const root = tree.at(-1)!;
    const away = radius(root) + 4;
    const { value, key, query } = root.children;
    const children = [
      { name: "value", x: value, side: -1 },
      { name: isNarrow ? "key" : "key, mirrored", x: key, side: 1 },
      { name: "query", x: query, side: 1 },
    ];
    for (const { name, x, side } of children) {
      const [left, y] = seen({ x, layer: layers - 1 });
      // In a narrow place the name of the layer stands over "value".
      const over = isNarrow && side < 0 && layers > 1 ? 0 : 0.7 * note;
      const at: Point = [left + side * away, y - over];
      textLines(names, at, [name], { role: "soft", anchor: side < 0 ? "end" : "start" });
    }
  }
}

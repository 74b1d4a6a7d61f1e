/** The network as its weights: cells on a canvas, and edges that change its sizes. */
import { scaleLinear } from "d3-scale";
import type { Layer } from "../kit/attention";
import type { Look } from "../kit/picture";
import { viewIn } from "../kit/view";
import { edge, type Edge, type EdgeOptions } from "./ledger_edge";
import type { LedgerFacts } from "./ledger_facts";
import { longer, without, type Network } from "./ledger_network";
import { beside, fitOf, layersAt, spacingOf } from "./ledger_places";
import type { Fit, LayerBox, Room, Spacing } from "./ledger_places";
import { subscript } from "./ledger_words";

const LIMIT = 1.6; // entries as large as this have the colour at the end of the scale
const SHARP = 2; // pixels of the canvas for one of the page

export interface LayersOptions {
  /** The reader has asked for another network. */
  go(net: Network): void;
  begin(): void;
  end(): void;
}

/** What the reader takes hold of in a layer. */
interface Hand {
  head: Edge;
  width: Edge;
  name: HTMLElement;
  remove: HTMLButtonElement;
}

export function layersView(host: HTMLElement, options: LayersOptions) {
  const { svg, size, headline } = viewIn(host, "layers");
  const canvas = document.createElement("canvas");
  // Some hundred cells: a canvas of the processor is there sooner than one of the graphics card.
  const pen = canvas.getContext("2d", { willReadFrequently: true })!;
  const box = svg.node()!.parentElement!;
  box.prepend(canvas);
  const hands: Hand[] = [];
  const handsOfLayers = svg.append("g");
  let net: Network;
  let limits: LedgerFacts["limits"];
  let look: Look;
  let room: Room = { width: 0, height: 0, note: 0, button: 0, canGrow: true };
  let shown: Fit;
  let held: Fit | null = null;
  let shade: (entry: number) => string;

  const within = (n: number, most: number) => Math.max(1, Math.min(most, n));
  const replaced = (list: number[], index: number, value: number) =>
    list.map((old, i) => (i === index ? within(value, limits.width) : old));
  const putWidth = (i: number, value: number) =>
    options.go({ ...net, widths: replaced(net.widths, i, value) });
  const putHead = (i: number, value: number) =>
    options.go({ ...net, headDims: replaced(net.headDims, i, value) });
  const hold: Pick<EdgeOptions, "begin" | "end"> = {
    begin() {
      held = { ...shown };
      options.begin();
    },
    end() {
      held = null;
      options.end();
    },
  };

  const output = edge(svg.append("g"), {
    way: "along",
    value: () => net.widths[net.headDims.length],
    put: (value) => putWidth(net.headDims.length, value),
    steps: (_, down) => down / (held ?? shown).tall,
    most: () => limits.width,
    ...hold,
  });
  const add = button("+", () => options.go(longer(net)));
  add.classList.add("add");
  label(add, "add a layer");
  box.append(add);

  function button(text: string, pressed: () => void): HTMLButtonElement {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", textContent: text });
    made.addEventListener("click", pressed);
    return made;
  }

  function label(node: HTMLButtonElement, name: string) {
    if (node.title !== name) Object.assign(node, { title: name, ariaLabel: name });
  }

  /** The hands of another layer at the end. */
  function handOf(i: number): Hand {
    const name = document.createElement("span");
    name.className = "name role-soft";
    const remove = button("×", () => {
      options.go(without(net, i));
      add.focus();
    });
    remove.classList.add("remove");
    label(remove, `remove layer ${i + 1}`);
    add.before(name, remove);
    return {
      name,
      remove,
      head: edge(handsOfLayers, {
        way: "along",
        value: () => net.headDims[i],
        put: (value) => putHead(i, value),
        steps: (_, down) => -down / (2 * (held ?? shown).tall),
        most: () => limits.width,
        ...hold,
      }),
      width: edge(handsOfLayers, {
        way: "across",
        value: () => net.widths[i],
        put: (value) => putWidth(i, value),
        steps: (right) => right / (held ?? shown).wide,
        most: () => limits.width,
        ...hold,
      }),
    };
  }

  return {
    headline,

    /** Measures the box: after all words are written. */
    draw(given: Look) {
      look = given;
      const [width, height] = size();
      room = { ...room, width, height, note: look.sizes.note };
      Object.assign(canvas, { width: SHARP * width, height: SHARP * height });
      canvas.style.cssText = `position: absolute; width: ${width}px; height: ${height}px`;
      const stops = [-LIMIT, -LIMIT / 2, 0, LIMIT / 2, LIMIT];
      shade = scaleLinear<string>().domain(stops).range(look.diverging).clamp(true);
    },

    /** Takes another network; returns where it will stand. */
    take(next: Network, most: LedgerFacts["limits"]): Fit {
      net = next;
      limits = most;
      while (hands.length < net.headDims.length) hands.push(handOf(hands.length));
      while (hands.length > net.headDims.length) {
        for (const one of Object.values(hands.pop()!)) one.remove();
      }
      for (const { remove } of hands) remove.hidden = hands.length === 1;
      const canGrow = hands.length < limits.layers;
      const hadFocus = document.activeElement === add;
      add.hidden = !canGrow;
      if (hadFocus && !canGrow) hands[hands.length - 1].remove.focus();
      const button = (canGrow ? add : hands[0].remove).offsetHeight;
      room = { ...room, button, canGrow };
      return fitOf(net, room, held);
    },

    move(fit: Fit, layers: Layer[]) {
      shown = fit;
      const spacing = spacingOf(net, room);
      const boxes = layersAt(net, room, fit);
      pen.setTransform(SHARP, 0, 0, SHARP, 0, 0);
      pen.clearRect(0, 0, room.width, room.height);
      boxes.forEach((place, i) => {
        drawLayer(layers[i], place, spacing, i);
        moveHands(hands[i], place, spacing, i);
      });
      moveEnds(boxes);
    },
  };

  function drawLayer(layer: Layer, place: LayerBox, { hasLetters }: Spacing, i: number) {
    const { colors, sizes } = look;
    for (const name of ["Q", "K", "V"] as const) {
      const top = place.tops[name];
      drawMatrix(layer[name], place.left, top);
      const high = shown.tall * layer[name].length;
      if ((i && !hasLetters) || high < 0.8 * sizes.note) continue;
      pen.font = `italic ${sizes.note}px ${look.font}`;
      pen.textAlign = "right";
      pen.fillStyle = colors.soft;
      pen.fillText(name, place.left - 4, top + high / 2 + 0.35 * sizes.note);
    }
  }

  function drawMatrix(matrix: Layer["Q"], left: number, top: number) {
    const { wide, tall } = shown;
    const frame = [left - 0.5, top - 0.5, wide * matrix[0].length, tall * matrix.length] as const;
    pen.fillStyle = look.colors.ground;
    pen.fillRect(...frame);
    matrix.forEach((row, i) => {
      row.forEach((entry, j) => {
        pen.fillStyle = shade(entry);
        const [x, y] = [left + j * wide, top + i * tall];
        pen.fillRect(x, y, Math.max(1, wide - 1), Math.max(1, tall - 1));
      });
    });
    pen.strokeStyle = look.colors.axis;
    pen.strokeRect(...frame);
  }

  function moveHands(hand: Hand, place: LayerBox, { isTight }: Spacing, i: number) {
    const half = place.width / 2;
    hand.head.move({
      name: `head dimension a${subscript(i + 1)}`,
      at: [place.right - half, place.crown - 1],
      line: [
        [-half, 0],
        [half, 0],
      ],
      words: { text: `a = ${net.headDims[i]}`, anchor: "middle", shift: [0, -8] },
    });
    const tall = (place.low - place.crown) / 2;
    hand.width.move({
      name: `width d${subscript(i)}`,
      at: [place.right, place.crown + tall],
      line: [
        [0, -tall],
        [0, tall],
      ],
      words: { text: `${net.widths[i]}`, anchor: "start", shift: [9, 4] },
    });
    hand.name.textContent = `${isTight ? "" : "layer "}${i + 1}`;
    hand.name.style.left = `${place.left}px`;
    const middle = place.left + (isTight ? 1.2 : 3.8) * look.sizes.note;
    hand.remove.style.left = `${middle}px`;
  }

  /** What there is once: the width of the output, and the button. */
  function moveEnds(boxes: LayerBox[]) {
    const last = boxes[boxes.length - 1];
    const half = last.width / 2;
    output.move({
      name: `width d${subscript(net.headDims.length)}`,
      at: [last.left + half, last.low],
      line: [
        [-half, 0],
        [half, 0],
      ],
      words: {
        text: `d′ = ${net.widths[net.headDims.length]}`,
        anchor: "middle",
        shift: [0, 18],
      },
    });
    add.style.left = `${last.right + beside(room)}px`;
    add.style.top = `${last.tops.V - room.button / 2}px`;
  }
}

/** What one takes hold of: tokens, squares and dots of shares, and rows that are pressed. */
import { pointer } from "d3-selection";
import { grip, handle, isFinger, type Handle, type HandleOptions } from "../kit/handle";
import type { Point, Range } from "../kit/picture";
import { number, type Group } from "../kit/view";
import type { Formulas } from "./immersion_facts";
import type { Frame } from "./immersion_frame";
import {
  layersOf,
  sharesAfterStep,
  sharesAt,
  sharesInSquare,
  type Layer,
  type Token,
} from "./immersion_layers";
import { SUBSCRIPTS } from "./token_paths";
import { within, type Run, type Shares } from "./two_tokens";

const TOKENS: Token[] = [1, 2];
const EQUAL = 1e-6; // tokens so near have no share that shows

/** What follows the hands of the reader. */
export interface Hands {
  begin(): void;
  end(): void;
  /** Where the controls are; the picture may be on its way there. */
  here(): Run;
  range(): Range;
  start(token: Token, place: number): void;
  free(layer: Layer, shares: Shares): void;
  freeze(layer: Layer): void;
}

interface Held {
  handle: Handle;
  /** Whether it is a dot, and has a larger ring. */
  isDot: boolean;
  /** Where it is and what it says; null while there is nothing to hold. */
  at(run: Run): [at: Point, value: number, words: string] | null;
}

type HoldOptions = Pick<HandleOptions, "name" | "isFlat" | "moved" | "keyed" | "ended"> & {
  at: Held["at"];
  isDot?: boolean;
};

export function handsIn(buttons: Group, grips: Group, hands: Hands) {
  let held: Held[] = [];
  let frame: Frame;
  let isCausal = false;
  const step = () => hands.range()[2];

  return {
    /** New layers: a tied one has nothing to hold. */
    build(formulas: Formulas) {
      isCausal = formulas.causal;
      held = [];
      for (const group of [buttons, grips]) group.selectAll("*").remove();
      const free = layersOf(formulas).filter((layer) => layer !== formulas.tied);
      free.forEach(addButton);
      TOKENS.forEach(addStart);
      for (const layer of free) {
        addSquare(layer);
        for (const token of TOKENS) {
          if (!isCausal || token === 2) addToken(layer, token);
        }
        addDot(layer);
      }
    },

    draw(next: Frame, marker: number) {
      frame = next;
      buttons.selectAll<SVGRectElement, unknown>("rect").each(function () {
        put(this, ...frame.rowOf(Number(this.dataset.layer)));
      });
      grips.selectAll<SVGRectElement, unknown>("rect").each(function () {
        const [left, low] = frame.corner(Number(this.dataset.layer));
        const [wide, tall] = frame.square;
        put(this, left, low - tall, wide, tall);
      });
      for (const { handle, isDot } of held) handle.radius(marker + (isDot ? 3 : 0));
    },

    move(run: Run) {
      for (const { handle, at } of held) {
        const found = at(run);
        if (found) handle.to(...found, hands.range());
        else handle.hide();
      }
    },

    /** Names the rows that are pressed. */
    name(nameOf: (layer: Layer) => string) {
      buttons.selectAll<SVGRectElement, unknown>("rect").each(function () {
        this.ariaLabel = nameOf(Number(this.dataset.layer) as Layer);
      });
    },
  };

  function hold({ at, isDot = false, ...options }: HoldOptions) {
    const own = handle(grips, { ...options, begin: hands.begin, end: hands.end });
    held.push({ handle: own, isDot, at });
  }

  function addStart(token: Token) {
    hold({
      name: `token ${token} at the start`,
      moved: ([x]) => hands.start(token, within(frame.placeAt(x))),
      keyed(right, up) {
        const place = hands.here().places[0][token - 1];
        hands.start(token, place + step() * (right || up));
      },
      at({ places }) {
        const place = places[0][token - 1];
        return [frame.seen(place, 0), place, `${place.toFixed(2)} of the way from x₁ to x₂`];
      },
    });
  }

  function addToken(layer: Layer, token: Token) {
    hold({
      name: `token ${token} after layer ${layer}`,
      moved([x]) {
        const shares = sharesAt(hands.here(), layer, token, frame.placeAt(x), frame.unit);
        hands.free(layer, shares);
      },
      keyed(right, up) {
        const way = step() * (right || up);
        hands.free(layer, sharesAfterStep(hands.here(), layer, token, way));
      },
      ended(isLargest) {
        const [mu, nu] = hands.here().shares[layer - 1];
        const share = Number(isLargest);
        hands.free(layer, token === 1 ? [share, nu] : [mu, share]);
      },
      at({ places, shares }) {
        const [s, u] = places[layer - 1];
        if (Math.abs(u - s) < EQUAL) return null;
        const share = shares[layer - 1][token - 1];
        const place = places[layer][token - 1];
        return [frame.seen(place, layer), share, named(layer, token, share)];
      },
    });
  }

  function addDot(layer: Layer) {
    hold({
      name: `(μ, ν) of layer ${layer}`,
      isFlat: !isCausal,
      isDot: true,
      moved: (at) => moveDot(layer, at),
      keyed(right, up) {
        const [mu, nu] = hands.here().shares[layer - 1];
        hands.free(layer, [mu + step() * right, nu + step() * up]);
      },
      at({ shares }) {
        const [mu, nu] = shares[layer - 1];
        const at = frame.inSquare(layer, [mu, nu]);
        if (isCausal) return [at, nu, named(layer, 2, nu)];
        return [at, mu, `${named(layer, 1, mu)}, ${named(layer, 2, nu)}`];
      },
    });
  }

  /** A press in a square brings its dot there; so does a mouse that drags. */
  function addSquare(layer: Layer) {
    const rect = grips.append("rect").attr("class", "square").attr("data-layer", layer);
    rect.on("click", (event: MouseEvent) => moveDot(layer, pointer(event)));
    if (isFinger()) return; // it scrolls the page
    grip(rect, { begin: hands.begin, moved: (at) => moveDot(layer, at), end: hands.end });
  }

  function moveDot(layer: Layer, [x, y]: Point) {
    const [left, low] = frame.corner(layer);
    const at: Point = [x - left, low - y];
    hands.free(layer, sharesInSquare(at, frame.square, isCausal, step()));
  }

  /** A row that is pressed: its layer is frozen, or as it is. */
  function addButton(layer: Layer) {
    buttons
      .append("rect")
      .attr("data-layer", layer)
      .attr("role", "button")
      .attr("tabindex", 0)
      .attr("rx", 4)
      .on("pointerdown", (event: PointerEvent) => event.preventDefault()) // no focus by it
      .on("click", () => hands.freeze(layer))
      .on("keydown", (event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        hands.freeze(layer);
      });
  }
}

const named = (layer: Layer, token: Token, share: number) =>
  `${"μν"[token - 1]}${SUBSCRIPTS[layer - 1]} = ${number(share)}`;

function put(rect: SVGRectElement, x: number, y: number, width: number, height: number) {
  for (const [name, value] of Object.entries({ x, y, width, height })) {
    rect.setAttribute(name, String(value));
  }
}

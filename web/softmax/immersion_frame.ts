/** Where the tokens, the squares of shares and the words of the layers stand, in pixels. */
import type { Look, Point } from "../kit/picture";
import type { Shares } from "./two_tokens";

const TOP = 0.1; // of a row: where the square of a layer begins
const TALL = 0.8; // of a row: the square of a layer
const TOKENS = 0.6; // of what words and gaps leave: the tokens' line; the rest is for squares
const ROOMY = 31.5; // letters: in a narrower place the words of a layer are broken

export class Frame {
  /** Left end of the tokens' line, and its length. */
  readonly left: number;
  readonly unit: number;
  /** Height of a row, a layer's. */
  readonly row: number;
  /** Width and height of a square. */
  readonly square: Point;
  /** Left end of the words. */
  readonly words: number;
  /** Whether a layer's words have room in one line. */
  readonly isRoomy: boolean;
  private readonly top: number;
  private readonly squareLeft: number;

  constructor(
    private readonly size: Point,
    layers: number,
    { marker, base, note }: Look["sizes"],
  ) {
    const [width, height] = size;
    this.isRoomy = width > ROOMY * note;
    const ring = marker + 8; // so much is beside a place on the line
    const nu = 1.2 * note; // beside a square
    const band = 28; // beside a square, with μ
    const words = (this.isRoomy ? 13.5 : 10) * note;
    const rest = Math.max(60, width - words - 2 * ring - nu - band);
    this.left = ring;
    this.unit = TOKENS * rest;
    this.top = marker + 1.5 * base + 4;
    this.row = (height - this.top - ring) / layers;
    this.square = [rest - this.unit, TALL * this.row];
    this.squareLeft = 2 * ring + this.unit + nu;
    this.words = this.squareLeft + this.square[0] + band;
  }

  /** Of a place on the line, after so many layers. */
  seen = (place: number, level: number): Point => [
    this.left + this.unit * place,
    this.top + this.row * level,
  ];

  placeAt = (x: number): number => (x - this.left) / this.unit;

  /** The lower left corner of a layer's square. */
  corner = (layer: number): Point => [
    this.squareLeft,
    this.top + this.row * (layer - 1 + TOP + TALL),
  ];

  inSquare(layer: number, [mu, nu]: Shares): Point {
    const [left, low] = this.corner(layer);
    const [wide, tall] = this.square;
    return [left + mu * wide, low - nu * tall];
  }

  /** All of a layer: left end, upper end, width and height. */
  rowOf(layer: number): [x: number, y: number, width: number, height: number] {
    const [, y] = this.seen(0, layer - 1);
    return [0, y + 2, this.size[0], Math.max(0, this.row - 4)];
  }
}

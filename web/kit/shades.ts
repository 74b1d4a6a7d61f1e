/** The colour at a place of a scale, and that of letters on it; without a page. */
import { rgb } from "d3-color";
import { scaleLinear } from "d3-scale";
import type { Scale } from "./picture";

export interface Shade {
  color: string;
  letters: "black" | "white";
}

/** Luminance, as WCAG 2.2 has it: here black and white have the same contrast, 4.58. */
const MIDDLE = 0.179;
const BRIGHTNESS = [0.2126, 0.7152, 0.0722]; // of red, green and blue

/** Whatever the colour, its letters have a contrast of 4.5 or more. */
export function shadeAt(place: number, scale: Scale): Shade {
  const color = scaleLinear<string>()
    .domain(scale.map(([at]) => at))
    .range(scale.map(([, code]) => code))
    .clamp(true)(place);
  return { color, letters: luminance(color) > MIDDLE ? "black" : "white" };
}

/** Of any colour that CSS knows. */
export function luminance(color: string): number {
  const { r, g, b } = rgb(color);
  const [red, green, blue] = [r, g, b].map((part) => linear(part / 255));
  return BRIGHTNESS[0] * red + BRIGHTNESS[1] * green + BRIGHTNESS[2] * blue;
}

const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

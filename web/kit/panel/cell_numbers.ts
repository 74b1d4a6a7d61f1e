/** Numbers in the cells of a matrix. */
import type { Data, Layout, LayoutAxis } from "plotly.js/lib/core";

const LEAST = 25; // pixels of a cell that holds a number such as −0.8, in letters of 12 pixels
const MARGINS = 32; // pixels at both sides of all charts together

/** Those that would touch in a page of this width are left out: colours say them, too. */
export function withoutTouching(data: Data[], layout: Partial<Layout>, width: number): Data[] {
  return data.map((trace) => {
    const { type, xaxis } = trace as { type?: string; xaxis?: string };
    if (type !== "heatmap") return trace;
    const name = (xaxis ?? "x").replace("x", "xaxis");
    const axis = (layout as Record<string, Partial<LayoutAxis>>)[name];
    const [left, right] = axis.domain as number[];
    const [first, last] = (axis.range as number[]).map(Number);
    const cell = ((width - MARGINS) * (right - left)) / Math.abs(last - first);
    return cell < LEAST ? { ...trace, texttemplate: "" } : trace;
  });
}

/** Charts under a finger. */
import { isFinger } from "../handle";
import type { Layout } from "plotly.js/lib/core";

/** A swipe over a chart scrolls the page: it would else draw a frame, and zoom. */
export function forFingers(layout: Partial<Layout>): Partial<Layout> {
  return isFinger() ? { ...layout, dragmode: false } : layout;
}

/** A panel's figure in a page without Python: what nbconvert makes of a notebook it has run. */
import type { Chart, Picture } from "./drawing";
import { unpack, type PainterOf } from "./unpack";

declare global {
  /** What the first figure of each kind brings for all others. */
  var neurovizAlone: Record<string, Promise<unknown>> | undefined;
}

const LEAST_WIDTH = 200; // pixels: less is a slide that is not seen yet
const CONFIG = { displaylogo: false, staticPlot: true };

/** Draws into the element of this name; `brought` is the painter's script, base64 of gzip. */
export async function draw(name: string, painter: string, brought: string, drawn: Chart | Picture) {
  const painters = (globalThis.neurovizAlone ??= {});
  if (brought) painters[painter] ??= unpack(bytesOf(brought));
  const box = document.getElementById(name);
  const found = await painters[painter];
  if (!found || !box) return;

  const sight = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width < LEAST_WIDTH) return;
    sight.disconnect();
    if ("name" in drawn) {
      globalThis.neurovizScenes.react(box, drawn, width);
      return;
    }
    const { data, layout } = drawn;
    (found as PainterOf<"plotly">).react(box, data, { ...layout, width }, CONFIG);
  });
  sight.observe(box);
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

/** The compressed scripts that draw figures: plotly.js is a module, the scenes are none. */
import type Plotly from "plotly.js/lib/core";
import type { painterOf } from "../painter";

export interface Painters {
  plotly: typeof Plotly;
  scenes: ReturnType<typeof painterOf>;
}

declare global {
  /** What the script of the scenes leaves behind. */
  var neurovizScenes: Painters["scenes"];
}

export async function unpack<Painter>(bytes: BlobPart): Promise<Painter> {
  const unzip = new DecompressionStream("gzip");
  const stream = new Blob([bytes]).stream().pipeThrough(unzip);
  // As a blob it stays outside of the page's memory, and is not copied again.
  const headers = { "content-type": "text/javascript" };
  const address = URL.createObjectURL(await new Response(stream, { headers }).blob());
  const found = await import(address);
  URL.revokeObjectURL(address);
  return found.default ?? globalThis.neurovizScenes;
}

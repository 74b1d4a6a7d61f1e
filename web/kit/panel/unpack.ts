/** The compressed scripts that draw figures: plotly.js is a module, those of scenes are none. */
import type Plotly from "plotly.js/lib/core";
import type { Scenes } from "../sections";

/** What draws figures, under its name: "plotly", or "scenes/" and a section. */
export type PainterOf<Name extends string> = Name extends "plotly" ? typeof Plotly : Scenes;

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

/** A figure in its box, drawn by plotly.js or by a scene. */
import type { Data, Layout } from "plotly.js/lib/core";
import type { Message, Value } from "../picture";
import { forFingers } from "./fingers";
import { controlsOf, type Holder } from "./model";
import { painterNamed } from "./painters";
import { talkOf } from "./talk";
import { withoutTouching } from "./cell_numbers";
import type { PainterOf } from "./unpack";

/** A figure as plain data; `of` are the values of the controls that it is of. */
export type Drawn = (Chart | Picture) & { of: Record<string, Value>; revision: number };

/** What plotly.js draws. */
export interface Chart {
  data: Data[];
  layout: Partial<Layout>;
}

/** What a scene draws. */
export type Picture = Message<unknown, Record<string, Value>>;

interface ImageOptions {
  format: "webp";
  width: number;
  height: number;
}

export interface Drawing {
  draw(drawn: Drawn, width: number): unknown;
  /** What is seen, as the address of an image. */
  picture(options: ImageOptions): Promise<string>;
  close(): void;
}

/** Waits for the painter, and returns what draws in the box; `now` is Python's last figure. */
export async function drawingIn(
  box: HTMLElement,
  painter: string,
  widget: Holder,
  now: () => Drawn,
): Promise<Drawing> {
  if (painter === "plotly") return chartIn(box, await painterNamed("plotly").ready);
  const scenes = await painterNamed(painter as `scenes/${string}`).ready;
  const talk = talkOf(await controlsOf(widget), () => (now() as Picture).choices);
  return {
    draw: (drawn, width) => scenes.react(box, drawn as Picture, width, talk),
    picture: (options) => scenes.toImage(box, options),
    close: () => scenes.purge(box),
  };
}

function chartIn(box: HTMLElement, plotly: PainterOf<"plotly">): Drawing {
  const config = { displaylogo: false, showSendToCloud: false };
  return {
    draw(drawn, width) {
      const { data, layout } = drawn as Chart;
      const traces = withoutTouching(data, layout, width);
      // plotly.js writes into the layout: a copy keeps apart what the reader turned.
      return plotly.react(box, traces, { ...structuredClone(forFingers(layout)), width }, config);
    },
    picture: (options) => plotly.toImage(box, options),
    close: () => plotly.purge(box),
  };
}

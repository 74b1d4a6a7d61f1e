/** A panel's figure as plain data, kept in step with Python: `Chart` in `neuroviz/kit/page.py`. */
import { changed, type Change } from "./changes";
import type { Drawn } from "./drawing";
import { Figure } from "./figure";
import type { Model, References } from "./model";
import { painterNamed } from "./painters";

interface State {
  drawn: Drawn;
  /** What draws it: "plotly", or "scenes/" and a section. */
  painter: string;
  /** The painter's script, compressed; empty where an earlier chart has brought it. */
  code: DataView<ArrayBuffer>;
  controls: References;
  /** Names of the controls that have a button which plays them. */
  walks: string[];
  width: number;
  /** Whether Python wants a picture of what is seen. */
  keeps: boolean;
}

type Heard = { painter: true } | { whole: Drawn } | { changes: Change[]; from: number; to: number };

export type ChartModel = Model<State, Heard>;

export default () => {
  let drawn: Drawn;
  const figures = new Set<Figure>();

  return {
    initialize({ model }: { model: ChartModel }) {
      drawn = model.get("drawn");
      const painter = painterNamed(model.get("painter"));
      const code = model.get("code");
      if (code.byteLength) painter.take(code);
      const stop = painter.askUntilThere(() => model.send({ want: "painter" }));

      model.on("msg:custom", (message, buffers) => {
        if ("painter" in message) return painter.take(buffers[0]);
        if ("whole" in message) drawn = message.whole;
        else if (message.from === drawn.revision) {
          drawn = { ...message.changes.reduce(changed, drawn), revision: message.to };
        } else {
          // One was missed.
          return model.send({ want: "figure" });
        }
        for (const figure of figures) figure.draw();
      });
      model.send({ want: "figure", unless: drawn.revision });
      return stop;
    },

    render({ model, el }: { model: ChartModel; el: HTMLElement }) {
      const figure = new Figure(model, el, () => drawn);
      figures.add(figure);
      return () => {
        figures.delete(figure);
        figure.close();
      };
    },
  };
};

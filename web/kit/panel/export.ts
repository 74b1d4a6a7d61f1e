/** The buttons CSV, SVG and PNG: the page makes the files. */
import { buttonOf } from "./button";
import type { Model } from "./model";
import { painterNamed } from "./painters";

const KEPT = 60_000; // milliseconds that the browser has for the file

type Picture = "svg" | "png";

interface State {
  table: string;
  name: string;
  formats: ("csv" | Picture)[];
  /** Pixels of a PNG for one of the page. */
  scale: number;
}

export default {
  render({ model, el }: { model: Model<State>; el: HTMLElement }) {
    el.style.cssText += "display: flex; flex: 0 0 auto;";
    for (const format of model.get("formats")) {
      const title =
        format === "csv" ? "save the numbers as a table" : `save the picture as ${format}`;
      const button = buttonOf(format.toUpperCase(), title, () => {
        if (format === "csv") handOver(model.get("table"), `${model.get("name")}.csv`);
        else savePicture(el, model, format);
      });
      button.style.width = "auto";
      el.append(button);
    }
  },
};

async function savePicture(element: Element, model: Model<State>, format: Picture) {
  const plot = element.closest(".nv")?.querySelector<HTMLElement>(".js-plotly-plot");
  if (!plot) return;
  const filename = model.get("name");
  // Types of plotly.js lack the scale, and want a size: without one it is that of the page.
  const options = { format, filename, scale: format === "png" ? model.get("scale") : 1 };
  const plotly = await painterNamed("plotly").ready;
  plotly.downloadImage(plot, options as never);
}

function handOver(text: string, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
}

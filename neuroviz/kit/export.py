"""Buttons that save what a panel shows: the page itself makes the files, and needs no kernel for it."""

import re

import anywidget
import traitlets

from neuroviz.kit.page import Late


class Export(Late, anywidget.AnyWidget):
    """The buttons CSV, SVG and PNG, for the panel (class nv) that they stand in.

    The table comes along as text; the picture is drawn by plotly in the page, as its own camera button
    would. So nothing has to be installed: neither kaleido nor a browser that Python can drive.

    Attributes:
        table: the text of the CSV file.
        name: of the files, without its ending.
        formats: which buttons there are.
        scale: pixels of the PNG for one of the page.
    """

    table = traitlets.Unicode("").tag(sync=True)
    name = traitlets.Unicode("figure").tag(sync=True)
    scale = traitlets.Float(2.0).tag(sync=True)
    formats = traitlets.Tuple(("csv", "svg", "png")).tag(sync=True)

    _esm = """
    const hand_over = (text, name) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
      link.download = name;
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };
    // The camera of plotly's button bar: the figure's copy of plotly is not to be had otherwise.
    const take_picture = (plot, options) => {
      const camera = plot?._fullLayout?._modeBar?.buttons.flat().find((button) => button.name === "toImage");
      if (!camera) return false;
      const before = plot._context.toImageButtonOptions;
      plot._context.toImageButtonOptions = options;
      try { camera.click(plot); } finally { plot._context.toImageButtonOptions = before; }
      return true;
    };
    export default { render({ model, el }) {
      el.style.cssText += "display: flex; flex: 0 0 auto;";
      for (const format of model.get("formats")) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "lm-Widget jupyter-widgets jupyter-button widget-button";
        button.style.width = "auto";
        button.textContent = format.toUpperCase();
        button.title = format === "csv" ? "save the numbers as a table" : `save the picture as ${format}`;
        button.addEventListener("click", () => {
          const name = model.get("name");
          if (format === "csv") return hand_over(model.get("table"), `${name}.csv`);
          const plot = el.closest(".nv")?.querySelector(".js-plotly-plot");
          const scale = format === "png" ? model.get("scale") : 1;
          const done = take_picture(plot, { format, filename: name, scale });
          button.style.textDecoration = done ? "" : "line-through";  // there is no picture yet
        });
        el.append(button);
      }
    } }"""

    def offer(self, table: str, name: str) -> None:
        """What the buttons save from now on.

        Raises:
            ValueError: if the name is none that every system takes for a file.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
            raise ValueError(
                f"the name of a file has letters, digits, '-', '_' and '.', and starts with one of the first "
                f"two; got {name!r}"
            )
        with self.hold_sync():
            self.table, self.name = table, name

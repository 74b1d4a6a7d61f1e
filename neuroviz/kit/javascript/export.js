// The buttons CSV, SVG and PNG: the page makes the files.

function handOver(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

export default {
  render({ model, el }) {
    el.style.cssText += "display: flex; flex: 0 0 auto;";
    for (const format of model.get("formats")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "lm-Widget jupyter-widgets jupyter-button widget-button";
      button.style.width = "auto";
      button.textContent = format.toUpperCase();
      button.title = format === "csv" ? "save the numbers as a table" : `save the picture as ${format}`;
      button.addEventListener("click", async () => {
        const filename = model.get("name");
        if (format === "csv") return handOver(model.get("table"), `${filename}.csv`);
        const plot = el.closest(".nv")?.querySelector(".js-plotly-plot");
        const scale = format === "png" ? model.get("scale") : 1;
        if (plot) (await globalThis.neurovizPainters.plotly.ready).downloadImage(plot, { format, filename, scale });
      });
      el.append(button);
    }
  },
};

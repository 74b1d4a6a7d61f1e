// A panel's figure in a page without Python: what nbconvert makes of a notebook that it has run.
async (name, painter, brought, drawn) => {
  const painters = (globalThis.neurovizAlone ??= {});
  const load = async () => {
    const packed = Uint8Array.from(atob(brought), (sign) => sign.charCodeAt(0));
    const script = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const plain = new Blob([await new Response(script).arrayBuffer()], { type: "text/javascript" });
    return (await import(URL.createObjectURL(plain))).default ?? globalThis.neurovizScenes;
  };
  if (brought) painters[painter] ??= load();
  const box = document.getElementById(name), found = await painters[painter];
  if (!found || !box) return;
  const config = { displaylogo: false, staticPlot: true };
  const draw = ([entry], sight) => {
    if (entry.contentRect.width < 200) return; // a slide that is not seen yet
    sight.disconnect();
    const width = Math.floor(entry.contentRect.width);
    if (painter === "scenes") found.react(box, drawn, width);
    else found.react(box, drawn.data, { ...drawn.layout, width }, config);
  };
  new ResizeObserver(draw).observe(box);
}

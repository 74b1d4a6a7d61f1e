// Builds plotly.js.gz and scenes.js.gz in neuroviz/kit/javascript, and the widgets of a page without a server in
// tools/book/live; `make javascript` calls it.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { environmentPlugin } from "esbuild-plugin-environment";
import { glsl } from "esbuild-plugin-glsl";
import css from "esbuild-plugin-inline-css";

const here = (name) => new URL(name, import.meta.url).pathname;
const version = (name) => JSON.parse(readFileSync(here(`node_modules/${name}/package.json`))).version;
// Scenes are what stands here in folders.
const below = (folder, ...kinds) => readdirSync(here(folder), { recursive: true })
  .filter((path) => kinds.some((kind) => path.endsWith(kind)) && !path.includes("node_modules"))
  .sort().map((path) => `${folder}${path}`);
const SCENES = below("./", ".ts", ".css");
const digest = (names) => {
  const sources = createHash("sha256");
  for (const name of [...names, "build.mjs", "package-lock.json"]) sources.update(readFileSync(here(name)));
  return sources.digest("hex");
};

async function make(folder, name, banner, { entry = `${name}.js`, ...options }) {
  const { outputFiles } = await build({
    entryPoints: [here(entry)],
    outdir: here("."),
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2020",
    legalComments: "none",
    banner: { js: banner },
    ...options,
  });
  for (const { path, contents } of outputFiles) {
    const to = here(`../${folder}/${name}.${path.split(".").at(-1)}.gz`);
    writeFileSync(to, gzipSync(contents, { level: 9 }));
  }
}

// The plugins, names and target are those of plotly.js's own build.
const panels = "neuroviz/kit/javascript";
const license = `plotly.js ${version("plotly.js")}, Copyright Plotly, Inc., MIT License`;
await make(panels, "plotly", `/* ${license}; built from ${digest(["plotly.js"])} */`, {
  plugins: [css(), glsl({ minify: true }), environmentPlugin({ NODE_DEBUG: false })],
  alias: { regl: "@plotly/regl", stream: "stream-browserify" },
  define: { global: "window", "define.amd": "false" },
});
await make(panels, "scenes", `/* built from ${digest(SCENES)} */`, {
  entry: "scenes.ts",
  format: "iife",
  loader: { ".css": "text" },
  target: "es2022",
});
const widgets = `@jupyter-widgets/controls ${version("@jupyter-widgets/controls")}, Copyright Jupyter Development \
Team, BSD-3-Clause License; anywidget ${version("anywidget")}, Copyright Trevor Manz, MIT License`;
await make("tools/book/live", "live", `/* ${widgets}; built from ${digest(["live.js", "amd.js"])} */`, {
  inject: [here("amd.js")],
  define: { global: "window" },
  loader: { ".svg": "dataurl" },
});

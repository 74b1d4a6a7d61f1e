// Builds plotly.js.gz and scenes.js.gz in neuroviz/kit/javascript; `make javascript` calls it.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { environmentPlugin } from "esbuild-plugin-environment";
import { glsl } from "esbuild-plugin-glsl";
import css from "esbuild-plugin-inline-css";

const here = (name) => new URL(name, import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(here("node_modules/plotly.js/package.json")));
const SCENES = [
  "scenes.js", "../../neuroviz/kit/javascript/scene.js", "../../neuroviz/kit/javascript/space.js",
  "../../neuroviz/singular/javascript/section.js", "../../neuroviz/singular/javascript/section_plane.js",
  "../../neuroviz/singular/javascript/surface.js", "../../neuroviz/singular/javascript/surface_point.js",
];
const digest = (names) => {
  const sources = createHash("sha256");
  for (const name of [...names, "build.mjs", "package-lock.json"]) sources.update(readFileSync(here(name)));
  return sources.digest("hex");
};

async function make(name, banner, options) {
  const { outputFiles } = await build({
    entryPoints: [here(`${name}.js`)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2020",
    legalComments: "none",
    banner: { js: banner },
    ...options,
  });
  const to = here(`../../neuroviz/kit/javascript/${name}.js.gz`);
  writeFileSync(to, gzipSync(outputFiles[0].contents, { level: 9 }));
}

// The plugins, names and target are those of plotly.js's own build.
const license = `plotly.js ${version}, Copyright Plotly, Inc., MIT License`;
await make("plotly", `/* ${license}; built from ${digest(["plotly.js"])} */`, {
  plugins: [css(), glsl({ minify: true }), environmentPlugin({ NODE_DEBUG: false })],
  alias: { regl: "@plotly/regl", stream: "stream-browserify" },
  define: { global: "window", "define.amd": "false" },
});
await make("scenes", `/* built from ${digest(SCENES)} */`, { format: "iife" });

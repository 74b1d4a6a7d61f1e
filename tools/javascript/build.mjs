// Builds neuroviz/kit/javascript/plotly.js.gz; `make javascript` calls it.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { environmentPlugin } from "esbuild-plugin-environment";
import { glsl } from "esbuild-plugin-glsl";
import css from "esbuild-plugin-inline-css";

const here = (name) => new URL(name, import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(here("node_modules/plotly.js/package.json")));
const sources = createHash("sha256");
for (const name of ["plotly.js", "build.mjs", "package-lock.json"]) sources.update(readFileSync(here(name)));
const banner = `/* plotly.js ${version}, Copyright Plotly, Inc., MIT License; built from ${sources.digest("hex")} */`;

// The plugins, names and target are those of plotly.js's own build.
const { outputFiles } = await build({
  entryPoints: [here("plotly.js")],
  bundle: true,
  minify: true,
  write: false,
  format: "esm",
  target: "es2020",
  legalComments: "none",
  banner: { js: banner },
  plugins: [css(), glsl({ minify: true }), environmentPlugin({ NODE_DEBUG: false })],
  alias: { regl: "@plotly/regl", stream: "stream-browserify" },
  define: { global: "window", "define.amd": "false" },
});
writeFileSync(here("../../neuroviz/kit/javascript/plotly.js.gz"), gzipSync(outputFiles[0].contents, { level: 9 }));

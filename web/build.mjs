/**
 * Builds what the pages load: the scripts of panels, and those of the static edition. Each says in
 * its first line which files it was built from, and their hash: tests/test_web.py compares them.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath, URL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { environmentPlugin } from "esbuild-plugin-environment";
import { glsl } from "esbuild-plugin-glsl";
// @ts-expect-error It comes without types.
import css from "esbuild-plugin-inline-css";

/** @typedef {import("esbuild").BuildOptions} Options */

const PANELS = "../neuroviz/kit/javascript";
const BOOK = "../tools/book";
const CLASSROOM = "../neuroviz/lessons/classroom/static";
/** They decide, too, what comes out. */
const TOOLS = ["build.mjs", "package-lock.json"];

/** @param {string} name of a file, from here */
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** @param {string} name */
function version(name) {
  return JSON.parse(readFileSync(here(`node_modules/${name}/package.json`), "utf8")).version;
}

/**
 * What stands here of the sources of a bundle; types alone leave nothing in it.
 *
 * @param {import("esbuild").Metafile} metafile
 */
function sourcesOf({ inputs }) {
  const own = Object.keys(inputs).filter((path) => !/node_modules|^<|:/.test(path));
  return [...own.sort(), ...TOOLS];
}

/** @param {string[]} names */
function hashOf(names) {
  const hash = createHash("sha256");
  for (const name of names) hash.update(readFileSync(here(name)));
  return hash.digest("hex");
}

/**
 * Writes a bundle, and beside it a style sheet if there is one.
 *
 * @param {string} entry
 * @param {string} to its path without its ending
 * @param {Options & { license?: string, isPacked?: boolean }} options
 */
async function make(entry, to, { license, isPacked = false, ...options }) {
  const { outputFiles, metafile } = await build({
    entryPoints: [here(entry)],
    absWorkingDir: here("."),
    outdir: here("."),
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    ...options,
  });
  const sources = sourcesOf(/** @type {import("esbuild").Metafile} */ (metafile));
  const built = `built from ${hashOf(sources)}: ${sources.join(" ")}`;
  const banner = license ? `${license}; ${built}` : built;
  for (const { path, text } of outputFiles ?? []) {
    const kind = extname(path);
    const whole = kind === ".js" ? `/* ${banner} */\n${text}` : text;
    const file = here(to + kind);
    if (isPacked) writeFileSync(`${file}.gz`, gzipSync(whole, { level: 9 }));
    else writeFileSync(file, whole);
  }
}

// The plugins, names and target are those of plotly.js's own build.
await make("plotly.ts", `${PANELS}/plotly`, {
  license: `plotly.js ${version("plotly.js")}, Copyright Plotly, Inc., MIT License`,
  isPacked: true,
  target: "es2020",
  plugins: [css(), glsl({ minify: true }), environmentPlugin({ NODE_DEBUG: "false" })],
  alias: { regl: "@plotly/regl", stream: "stream-browserify" },
  define: { global: "window", "define.amd": "false" },
});
// Plain scripts: a page that is opened from a disk may load no module.
mkdirSync(here(`${PANELS}/scenes`), { recursive: true });
for (const section of readdirSync(here("."))) {
  if (!existsSync(here(`${section}/scenes.ts`))) continue;
  await make(`${section}/scenes.ts`, `${PANELS}/scenes/${section}`, {
    isPacked: true,
    format: "iife",
    loader: { ".css": "text" },
  });
}
// Each is one widget, which brings its script.
for (const name of ["chart", "copy", "export", "status"]) {
  await make(`kit/panel/${name}.ts`, `${PANELS}/${name}`, {});
}
await make("kit/panel/alone.ts", `${PANELS}/alone`, { format: "iife", globalName: "neuroviz" });

const controls = `@jupyter-widgets/controls ${version("@jupyter-widgets/controls")}`;
const anywidget = `anywidget ${version("anywidget")}`;
await make("book/live.ts", `${BOOK}/live/live`, {
  license:
    `${controls}, Copyright Jupyter Development Team, BSD-3-Clause License; ` +
    `${anywidget}, Copyright Trevor Manz, MIT License`,
  isPacked: true,
  target: "es2020",
  inject: [here("book/amd.ts")],
  define: { global: "window" },
  loader: { ".svg": "dataurl" },
});
await make("book/worker.ts", `${BOOK}/live/worker`, {});
await make("book/link.ts", `${BOOK}/live/link`, {});
await make("book/book.ts", `${BOOK}/static/book`, { format: "iife" });
await make("classroom/box.css", `${BOOK}/static/box`, {});
await make("front/front.ts", `${BOOK}/static/front`, { format: "iife" });
for (const name of ["student", "teacher", "projector"]) {
  await make(`classroom/${name}.ts`, `${CLASSROOM}/${name}`, {});
}

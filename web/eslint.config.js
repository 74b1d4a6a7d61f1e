import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  // plotly.js, amd.js and live.js join what others have built.
  { ignores: ["node_modules", "plotly.js", "amd.js", "live.js", "build.mjs"] },
  js.configs.recommended,
  tseslint.configs.recommended,
);

import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  // plotly.js, amd.js and live.js join what others have built; old_scenes.js goes with the last scene.
  { ignores: ["node_modules", "plotly.js", "amd.js", "live.js", "old_scenes.js", "build.mjs"] },
  js.configs.recommended,
  tseslint.configs.recommended,
);

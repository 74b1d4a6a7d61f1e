import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  // A test writes what it asks into a folder tmp….
  { ignores: ["node_modules", "tmp*"] },
  js.configs.recommended,
  tseslint.configs.recommended,
);

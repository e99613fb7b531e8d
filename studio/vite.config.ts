// Two builds: the page of the studio (code-split), and `--mode file`: one script for self-contained HTML files.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vite";

const page = resolve(process.env.STUDIO_OUT ?? "../src/regard/server/page");
const server = process.env.STUDIO_SERVER ?? "http://127.0.0.1:8765";

export default defineConfig(({ mode, command }) => {
  const file = mode === "file";
  if (command === "build" && !file) rmSync(resolve(page, "assets"), { recursive: true, force: true });
  return {
    plugins: [svelte()],
    publicDir: false,
    server: { proxy: { "/api": server, "/fonts": server } },
    build: {
      outDir: page,
      emptyOutDir: false, // fonts/ is written by make_fonts.py
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: "es2022",
      reportCompressedSize: !file,
      rollupOptions: {
        external: [/^\/fonts\//],
        ...(file
          ? {
              input: resolve("src/file.ts"),
              output: { format: "iife", entryFileNames: "view.js", assetFileNames: "view[extname]" },
            }
          : {}),
      },
      ...(file ? { cssCodeSplit: false } : {}),
    },
  };
});

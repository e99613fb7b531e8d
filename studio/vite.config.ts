// Three builds: the page of the studio (code-split), `--mode file`: one script for self-contained HTML files, and
// `--mode browser`: the page that translates without a server, a plain script since modules do not load from a disk.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vite";

const page = resolve(process.env.STUDIO_OUT ?? "../src/regard/server/page");
const browserPage = resolve(process.env.BROWSER_OUT ?? "../src/regard/export/page");
const server = process.env.STUDIO_SERVER ?? "http://127.0.0.1:8765";

export default defineConfig(({ mode, command }) => {
  const file = mode === "file";
  const browser = mode === "browser";
  const script = (entry: string, name: string) => ({
    input: resolve(entry),
    output: { format: "iife" as const, entryFileNames: `${name}.js`, assetFileNames: `${name}[extname]` },
  });
  if (command === "build" && !file && !browser) rmSync(resolve(page, "assets"), { recursive: true, force: true });
  return {
    plugins: [svelte()],
    worker: { format: "iife" },
    publicDir: false,
    server: { proxy: { "/api": server, "/fonts": server } },
    build: {
      outDir: browser ? browserPage : page,
      emptyOutDir: false, // fonts/ is written by make_fonts.py
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: "es2022",
      reportCompressedSize: !file && !browser,
      rollupOptions: {
        external: [/^\/?fonts\//],
        ...(file ? script("src/file.ts", "view") : browser ? script("src/browser/main.ts", "app") : {}),
      },
      ...(file || browser ? { cssCodeSplit: false } : {}),
    },
  };
});

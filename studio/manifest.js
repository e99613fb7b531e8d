// Writes page/manifest.json: SHA-256 of every source file of the studio, so that a test without Node sees a stale build.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const page = resolve(process.env.STUDIO_OUT ?? "../src/regard/server/page");
const skipped = ["node_modules", "README.md", "make_fonts.py"];

function* files(folder) {
  for (const entry of readdirSync(folder || ".", { withFileTypes: true })) {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (skipped.includes(path) || entry.name.endsWith(".test.ts") || entry.name.startsWith(".")) continue;
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

const sources = {};
for (const path of [...files("")].sort()) {
  sources[path] = createHash("sha256").update(readFileSync(path)).digest("hex");
}
writeFileSync(resolve(page, "manifest.json"), JSON.stringify({ sources }, null, 1) + "\n");

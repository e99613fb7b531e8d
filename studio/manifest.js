// Writes manifest.json beside both built pages: SHA-256 of every source file, so that a test without Node sees a stale
// build. The page of the studio does not depend on src/browser.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const page = resolve(process.env.STUDIO_OUT ?? "../src/regard/server/page");
const browserPage = resolve(process.env.BROWSER_OUT ?? "../src/regard/export/page");
const skipped = ["node_modules", "licences", "README.md", "make_fonts.py"];

function* files(folder) {
  for (const entry of readdirSync(folder || ".", { withFileTypes: true })) {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (skipped.includes(path) || entry.name.endsWith(".test.ts") || entry.name.startsWith(".")) continue;
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

const sources = [...files("")].sort().map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]);
const write = (folder, chosen) =>
  writeFileSync(resolve(folder, "manifest.json"), JSON.stringify({ sources: Object.fromEntries(chosen) }, null, 1) + "\n");
write(browserPage, sources);
write(page, sources.filter(([path]) => !path.startsWith("src/browser/")));

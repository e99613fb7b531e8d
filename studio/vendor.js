// Completes the page without a server: its HTML, the service worker, and onnxruntime's plain wasm build, compressed.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";

const page = resolve(process.env.BROWSER_OUT ?? "../src/regard/export/page");
const escapes = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r" };

rmSync(resolve(page, "assets"), { recursive: true, force: true }); // vite copies the wasm file uncompressed
const style = resolve(page, "app.css");
writeFileSync(style, readFileSync(style, "utf8").replaceAll("url(/fonts/", "url(fonts/")); // the folder may lie anywhere
const wasm = readFileSync("node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm");
const packed = gzipSync(wasm, { level: 9 }).toString("latin1");
const script = `regardFile("${packed.replace(/[\\"\n\r]/g, (one) => escapes[one])}")\n`;
writeFileSync(resolve(page, "runtime.js"), Buffer.from(script, "latin1")); // src/regard/export/web_model.py says why
for (const name of ["index.html", "sw.js"]) copyFileSync(`src/browser/${name}`, resolve(page, name));
mkdirSync(resolve(page, "licences"), { recursive: true });
for (const name of ["onnxruntime.txt", "onnxruntime-third-party.txt"]) copyFileSync(`licences/${name}`, resolve(page, "licences", name));

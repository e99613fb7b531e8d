// Files for the person: SVG, PNG, HTML, JSON, CSV.
import { drawMatrix } from "./drawing";
import { fontFaces } from "./fonts";
import { toCsv, type Matrix, type Scale } from "./matrix";
import type { Document } from "./types";

export interface Shown {
  document: Document;
  matrix: Matrix;
  scale: Scale;
  caption: string;
  dark: boolean;
}

export function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const fileName = (shown: Shown, ending: string): string => {
  const words = shown.document.source.text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return `${words.slice(0, 5).join("-").slice(0, 40) || "attention"}.${ending}`;
};

const texts = (shown: Shown) => `${shown.document.source.text} ${shown.document.target.text} ${shown.caption}`;

export async function svgFile(shown: Shown): Promise<Blob> {
  const fonts = await fontFaces(texts(shown));
  const { svg } = drawMatrix(shown.matrix, shown.scale, shown.caption, shown.dark, fonts);
  return new Blob([svg], { type: "image/svg+xml" });
}

export async function pngFile(shown: Shown, factor: number): Promise<Blob> {
  const fonts = await fontFaces(texts(shown));
  const { svg, width, height } = drawMatrix(shown.matrix, shown.scale, shown.caption, shown.dark, fonts);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * factor;
  canvas.height = height * factor;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("The browser made no PNG."))), "image/png"),
  );
}

export const jsonFile = (shown: Shown) =>
  new Blob([JSON.stringify(shown.document, null, 1) + "\n"], { type: "application/json" });

export const csvFile = (shown: Shown) => new Blob(["\ufeff", toCsv(shown.matrix)], { type: "text/csv;charset=utf-8" });

const inScript = (value: unknown) =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** One self-contained page with the same components; `regard translate --html` writes the same. */
export async function htmlFile(shown: Shown): Promise<Blob> {
  const [script, style] = await Promise.all(["/view.js", "/view.css"].map(async (path) => (await fetch(path)).text()));
  const fonts = await fontFaces(texts(shown));
  let allowed = "'unsafe-inline'";
  if (globalThis.crypto?.subtle) {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(script)));
    allowed = `'sha256-${btoa(String.fromCharCode(...hash))}'`;
  }
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${allowed}; font-src data:; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  const payload = inScript([shown.document]);
  return new Blob(
    [
      `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n`,
      `<meta name="viewport" content="width=device-width, initial-scale=1">\n`,
      `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<meta name="generator" content="regard">\n`,
      `<title>Where the model looked</title>\n<style id="fonts">${fonts}</style>\n<style>${style}</style>\n</head>\n<body>\n`,
      `<header><h1>Where the model looked</h1></header>\n<main id="view"></main>\n<script type="application/json" id="documents">${payload}</script>\n<script>${script}</script>\n</body>\n</html>\n`,
    ],
    { type: "text/html;charset=utf-8" },
  );
}

// Files for the person: SVG, PNG, HTML, JSON, CSV.
import { drawMatrix, drawRibbons, type Drawing } from "./drawing";
import { fontFaces } from "./fonts";
import { toCsv, type Matrix, type Scale } from "./matrix";
import type { Rendering } from "./settings";
import type { Document } from "./types";

export interface Shown {
  document: Document;
  matrix: Matrix;
  scale: Scale;
  caption: string;
  dark: boolean;
  rendering: Rendering;
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

export const texts = (shown: Shown) => `${shown.document.source.text} ${shown.document.target.text} ${shown.caption}`;

/** What is on the page: the ribbons, else the matrix. */
async function draw(shown: Shown): Promise<Drawing> {
  const fonts = await fontFaces(texts(shown));
  const make = shown.rendering === "ribbons" ? drawRibbons : drawMatrix;
  return make(shown.matrix, shown.scale, shown.caption, shown.dark, fonts);
}

export async function svgFile(shown: Shown): Promise<Blob> {
  const { svg } = await draw(shown);
  return new Blob([svg], { type: "image/svg+xml" });
}

export async function pngFile(shown: Shown, factor: number): Promise<Blob> {
  const { svg, width, height } = await draw(shown);
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

// The width of a label in pixels, before it is in the page.
import type { Token } from "./matrix";

let pen: CanvasRenderingContext2D | null | undefined;
const widths = new Map<string, number>();

export function textWidth(text: string, font: string): number {
  pen ??= document.createElement("canvas").getContext("2d");
  if (!pen) return text.length * 8;
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    pen.font = font;
    width = pen.measureText(text).width;
    if (widths.size > 5000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

export function fontFamily(): string {
  return getComputedStyle(document.documentElement).getPropertyValue("--sans").trim() || "sans-serif";
}

export function measure(token: Token): number {
  if (token.special && !token.text) return 46;
  return Math.ceil(textWidth(token.text, `15px ${fontFamily()}`)) + 2;
}

/** Pixels of the longest label of a map. */
export const LABEL = 132;

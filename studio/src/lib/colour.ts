// Colours of weights: Blues on light, cividis on dark, PuOr for differences; ink with the higher contrast.
import { interpolateBlues, interpolateCividis, interpolatePuOr } from "d3-scale-chromatic";

const STEPS = 256;
export type Palette = string[];

const table = (colour: (x: number) => string): Palette =>
  Array.from({ length: STEPS }, (_, i) => colour(i / (STEPS - 1)));

const made = new Map<string, Palette>();

export function palette(dark: boolean, difference: boolean): Palette {
  const name = difference ? "PuOr" : dark ? "cividis" : "Blues";
  if (!made.has(name)) {
    made.set(name, table(difference ? (x) => interpolatePuOr(0.08 + 0.84 * x) : dark ? interpolateCividis : interpolateBlues));
  }
  return made.get(name)!;
}

/** The colour of a scaled value: 0 to 1, or -1 to 1 for a difference. */
export function colourOf(colours: Palette, value: number, difference: boolean): string {
  const x = difference ? (value + 1) / 2 : value;
  return colours[Math.max(0, Math.min(STEPS - 1, Math.round(x * (STEPS - 1))))];
}

const inks = new Map<string, string>();

export function inkOn(colour: string): string {
  let ink = inks.get(colour);
  if (!ink) {
    const hex = colour.startsWith("#") ? colour.slice(1).match(/../g)!.map((part) => parseInt(part, 16)) : null;
    const [r, g, b] = (hex ?? colour.match(/[\d.]+/g)!.map(Number)).map((channel) => {
      const x = channel / 255;
      return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    });
    const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    ink = 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.056 ? "#ffffff" : "#0b1020";
    inks.set(colour, ink);
  }
  return ink;
}

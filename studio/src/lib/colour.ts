// Colours of weights: Blues on light, cividis on dark, PuOr for differences; ink with the higher contrast.
const STEPS = 256;
export type Palette = string[];

// ColorBrewer's Blues and PuOr (the ends left out) and cividis, evenly spaced; colours between them are interpolated.
const STOPS = {
  Blues: "f7fbff deebf7 c6dbef 9dcae1 6aaed6 4191c6 2070b4 08509b 08306b",
  cividis: "00224e 1a386f 434e6c 61656f 7d7c78 9b9476 bcae6c dec958 fee838",
  // PuOr with a dark middle: a white map would glare on a dark page.
  darkPuOr: "c9b8f0 a18ad6 7660ac 473c6b 1d232c 5a4222 9a6a26 d8923a ffc073",
  PuOr: "542788 8073ac b2abd2 d8daeb f7f7f7 fee0b6 fdb863 e08214 b35806",
};

function table(name: keyof typeof STOPS): Palette {
  const stops = STOPS[name].split(" ").map((hex) => hex.match(/../g)!.map((part) => parseInt(part, 16)));
  return Array.from({ length: STEPS }, (_, i) => {
    const place = (i / (STEPS - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    const mixed = stops[below].map((channel, k) => channel + (place - below) * (stops[below + 1][k] - channel));
    return `rgb(${mixed.map(Math.round).join(" ")})`;
  });
}

const made = new Map<string, Palette>();

export function palette(dark: boolean, difference: boolean): Palette {
  const name = difference ? (dark ? "darkPuOr" : "PuOr") : dark ? "cividis" : "Blues";
  if (!made.has(name)) made.set(name, table(name));
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
    const [r, g, b] = colour.match(/\d+/g)!.map(Number).map((channel) => {
      const x = channel / 255;
      return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    });
    const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    ink = 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.056 ? "#ffffff" : "#0b1020";
    inks.set(colour, ink);
  }
  return ink;
}

// The matrix or its ribbons as an SVG file: words as text, numbers in the cells, caption, fonts embedded by the caller.
import { colourOf, inkOn, palette } from "./colour";
import { link } from "./curve";
import { percent, scaled, spoken, type Matrix, type Scale, type Token } from "./matrix";
import { fontFamily, measure, textWidth } from "./measure";
import { leftOut, opacity, ribbonsOf, thickness } from "./ribbons";

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (one) => `&#${one.codePointAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "");

/** A piece is underlined in its whole word: cutting inside a Devanagari cluster would draw dotted circles. */
function inside(token: Token): string {
  if (!token.part) return escaped(spoken(token));
  const [before, part, after] = [[0, token.part[0]], token.part, [token.part[1]]].map((range) =>
    escaped(Array.from(token.text).slice(...range).join("")),
  );
  return `${before}<tspan text-decoration="underline">${part}</tspan>${after}`;
}

function label(token: Token, place: string, anchor: string, colour: string): string {
  const lang = token.language ? ` xml:lang="${escaped(token.language)}"` : "";
  return `<text ${place} text-anchor="${anchor}" direction="${token.direction}" unicode-bidi="isolate"${lang} fill="${colour}">${inside(token)}</text>`;
}

/** text-anchor follows the direction: "end" of a right-to-left text is its left side. */
const anchored = (token: Token, side: "left" | "right") =>
  (token.direction === "rtl") === (side === "left") ? "end" : "start";

export interface Drawing {
  svg: string;
  width: number;
  height: number;
}

export function drawMatrix(matrix: Matrix, scale: Scale, caption: string, dark: boolean, fonts = ""): Drawing {
  const cell = matrix.columns.length > 40 ? 16 : 40;
  const tall = Math.max(cell, 20);
  const ink = dark ? "#e9ecf2" : "#1b2230";
  const side = Math.max(40, ...matrix.rows.map(measure)) + 28;
  const widest = Math.max(24, ...matrix.columns.map(measure));
  const turned = widest > cell - 6;
  const above = (turned ? Math.round(widest * 0.8) + 18 : 34) + 12;
  const width = Math.ceil(Math.max(side + matrix.columns.length * cell + (turned ? widest * 0.62 : 0) + 20, Math.min(captionWidth(caption), 900)));
  const height = above + matrix.rows.length * tall + 44;
  const colours = palette(dark, matrix.difference);
  const values = scaled(matrix, scale);
  const rtl = matrix.columns[0]?.direction === "rtl";
  const left = (column: number) => side + (rtl ? matrix.columns.length - 1 - column : column) * cell;
  const parts: string[] = [];
  matrix.columns.forEach((token, j) => {
    const x = left(j) + cell / 2;
    const place = turned
      ? `transform="translate(${x + 3} ${above - 8}) rotate(-52)"`
      : `x="${x}" y="${above - 10}"`;
    parts.push(label(token, place, turned ? anchored(token, "left") : "middle", ink));
  });
  matrix.rows.forEach((token, i) => {
    const y = above + i * tall;
    parts.push(label(token, `x="${side - 10}" y="${y + tall / 2 + 5}"`, anchored(token, "right"), ink));
    matrix.values[i].forEach((value, j) => {
      const colour = colourOf(colours, values[i][j], matrix.difference);
      parts.push(`<rect x="${left(j) + 0.5}" y="${y + 0.5}" width="${cell - 1}" height="${tall - 1}" fill="${colour}"/>`);
      const key = `${i},${j}`;
      if (matrix.sure.has(key) || matrix.possible.has(key)) {
        const dash = matrix.sure.has(key) ? "" : ' stroke-dasharray="3 3"';
        parts.push(`<rect x="${left(j) + 2}" y="${y + 2}" width="${cell - 4}" height="${tall - 4}" fill="none" stroke="${dark ? "#ffb45c" : "#b4540a"}" stroke-width="2"${dash}/>`);
      }
      if (cell >= 27 && Math.abs(value) >= 0.01) {
        parts.push(`<text x="${left(j) + cell / 2}" y="${y + tall / 2 + 4}" text-anchor="middle" font-size="12" fill="${inkOn(colour)}">${percent(value)}</text>`);
      }
    });
  });
  return framed(parts, width, height, caption, dark, fonts);
}

/** Source words on the left, target words on the right, as the page draws them. */
export function drawRibbons(matrix: Matrix, scale: Scale, caption: string, dark: boolean, fonts = ""): Drawing {
  const [line, span] = [34, 340];
  const ink = dark ? "#e9ecf2" : "#1b2230";
  const tall = line * Math.max(matrix.rows.length, matrix.columns.length);
  const left = Math.max(40, ...matrix.columns.map(measure)) + 28;
  const right = Math.max(40, ...matrix.rows.map(measure)) + 28;
  const y = (index: number, of: number) => 12 + ((index + 0.5) * tall) / of;
  const ribbons = ribbonsOf(matrix, scale);
  const parts = ribbons.map((one) => {
    const path = link([left, y(one.column, matrix.columns.length)], [left + span, y(one.row, matrix.rows.length)]);
    const colour = one.value < 0 ? (dark ? "#ffb45c" : "#b4540a") : dark ? "#86b6f2" : "#19569c";
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${thickness(one).toFixed(2)}" opacity="${opacity(one).toFixed(3)}"/>`;
  });
  const name = (token: Token, x: number, place: number, side: "left" | "right") =>
    parts.push(label(token, `x="${x}" y="${place + 5}"`, anchored(token, side), ink));
  matrix.columns.forEach((token, j) => name(token, left - 10, y(j, matrix.columns.length), "right"));
  matrix.rows.forEach((token, i) => name(token, left + span + 10, y(i, matrix.rows.length), "left"));
  const about = `${caption} · ${leftOut(matrix, ribbons)}`;
  const width = Math.ceil(Math.max(left + span + right, Math.min(captionWidth(about), 900)));
  return framed(parts, width, tall + 56, about, dark, fonts);
}

const captionWidth = (caption: string) => textWidth(caption, `13px ${fontFamily()}`) + 32;

function framed(parts: string[], width: number, height: number, caption: string, dark: boolean, fonts: string): Drawing {
  const family = escaped(fontFamily());
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${family}" font-size="15" role="img" aria-label="${escaped(caption)}"><title>${escaped(caption)}</title>${fonts ? `<style>${fonts}</style>` : ""}<rect width="100%" height="100%" fill="${dark ? "#14171d" : "#ffffff"}"/>${parts.join("")}<text x="16" y="${height - 14}" font-size="13" fill="${dark ? "#a5adbc" : "#566074"}">${escaped(caption)}</text></svg>`;
  return { svg, width, height };
}

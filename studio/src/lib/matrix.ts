// A matrix to draw: labelled rows (written) and columns (read), made from a document in words or in pieces.
import type { Direction, Document, Link, Piece, Side, Special } from "./types";

export type Unit = "word" | "piece";
export type Scale = "one" | "row" | "root";

export interface Token {
  text: string;
  special: Special | null;
  language: string | null;
  direction: Direction;
  /** The characters of `text` that belong to the piece, where `text` is a whole word of several pieces. */
  part: [number, number] | null;
}

export interface Matrix {
  rows: Token[];
  columns: Token[];
  values: number[][];
  /** For each row, what it lacks of 1. */
  missing: number[];
  /** "row,column" of gold links. */
  sure: Set<string>;
  possible: Set<string>;
  unit: Unit;
  /** A difference has values from -1 to 1. */
  difference: boolean;
}

const token = (side: Side, text: string, special: Special | null, part: [number, number] | null = null): Token => ({
  text,
  special,
  language: side.language,
  direction: side.direction,
  part,
});

function pieceToken(side: Side, piece: Piece): Token {
  const word = piece.word === null ? undefined : side.words[piece.word];
  if (piece.special || !word || !piece.span) return token(side, piece.special ? piece.text : piece.text || "␣", piece.special);
  const [start, end] = [piece.span[0] - word.span[0], piece.span[1] - word.span[0]];
  const whole = start <= 0 && end >= Array.from(word.text).length;
  return token(side, word.text, null, whole || end <= start ? null : [Math.max(0, start), end]);
}

export const pieceTokens = (side: Side): Token[] => side.pieces.map((piece) => pieceToken(side, piece));
export const wordTokens = (side: Side): Token[] => side.words.map((word) => token(side, word.text, null));

/** How a token is spoken and written into CSV: EOS, or the word, or the piece of a word. */
export function spoken(one: Token): string {
  if (one.special && !one.text) return one.special;
  return one.part ? Array.from(one.text).slice(...one.part).join("") : one.text;
}

const mean = (matrices: number[][][]): number[][] =>
  matrices[0].map((row, i) => row.map((_, j) => matrices.reduce((sum, one) => sum + one[i][j], 0) / matrices.length));

/** layer and head: numbers from 0, or null for the mean of what was sent. */
export function toMatrix(
  document: Document,
  unit: Unit,
  layer: number | null = null,
  head: number | null = null,
): Matrix | null {
  const { source, target } = document;
  if (unit === "word" && document.word_attention) {
    const { data, elsewhere, missing } = document.word_attention;
    const columns = wordTokens(source);
    const rest = source.pieces.some((piece) => piece.word === null);
    const values = data.map((row, i) => (rest ? [...row, elsewhere[i]] : [...row]));
    if (rest) columns.push(token(source, "", "EOS"));
    return { ...goldLinks(document, "word"), rows: wordTokens(target), columns, values, missing, unit, difference: false };
  }
  if (!document.attention) return null;
  const layers = document.attention.data;
  const place = layer === null ? -1 : document.attention.layers.indexOf(layer);
  const chosen = place < 0 ? layers : [layers[place]];
  const heads = chosen.flatMap((one) => (head === null ? one : [one[Math.min(head, one.length - 1)]]));
  const values = heads.length === 1 ? heads[0] : mean(heads);
  const missing = values.map((row) => Math.max(0, 1 - row.reduce((sum, value) => sum + value, 0)));
  const tokens = { rows: pieceTokens(target).slice(0, values.length), columns: pieceTokens(source) };
  return { ...goldLinks(document, "piece"), ...tokens, values, missing, unit: "piece", difference: false };
}

function goldLinks(document: Document, unit: Unit): { sure: Set<string>; possible: Set<string> } {
  const keys = (links: Link[] | null | undefined) => {
    if (!links || (document.links_unit ?? "word") !== unit) return new Set<string>();
    return new Set(links.map(([source, target]) => `${target},${source}`));
  };
  return { sure: keys(document.gold), possible: keys(document.possible) };
}

export function difference(first: Matrix, second: Matrix): Matrix | null {
  const same = (a: Token[], b: Token[]) => a.length === b.length && a.every((one, i) => spoken(one) === spoken(b[i]));
  if (!same(first.rows, second.rows) || !same(first.columns, second.columns)) return null;
  const values = first.values.map((row, i) => row.map((value, j) => value - second.values[i][j]));
  return { ...first, values, missing: first.missing.map(() => 0), difference: true };
}

/** 0 to 1 for the colour scale (-1 to 1 for a difference). */
export function scaled(matrix: Matrix, scale: Scale): number[][] {
  if (matrix.difference || scale === "one") return matrix.values;
  if (scale === "root") return matrix.values.map((row) => row.map(Math.sqrt));
  return matrix.values.map((row) => {
    const most = Math.max(...row) || 1;
    return row.map((value) => value / most);
  });
}

export const percent = (value: number): string => `${Math.round(100 * value)}`;

/** "लाइट attends 79 percent to lights". */
export function sentence(matrix: Matrix, row: number, column: number): string {
  const [target, source] = [spoken(matrix.rows[row]), spoken(matrix.columns[column])];
  const value = matrix.values[row][column];
  if (matrix.difference) {
    const points = Math.round(100 * value);
    if (points === 0) return `${target} attends equally to ${source}`;
    return `${target} attends ${Math.abs(points)} points ${points > 0 ? "more" : "less"} to ${source}`;
  }
  const key = `${row},${column}`;
  const gold = matrix.sure.has(key) ? "; a gold link" : matrix.possible.has(key) ? "; a possible gold link" : "";
  return `${target} attends ${percent(value)} percent to ${source}${gold}`;
}

/** The strongest three of a row: "le attends 90 percent to the, 6 percent to cat". */
export function rowSentence(matrix: Matrix, row: number): string {
  const order = matrix.values[row].map((value, i) => [value, i] as const).sort((a, b) => b[0] - a[0]);
  const kept = order.slice(0, 3).filter(([value], rank) => rank === 0 || value >= 0.05);
  const parts = kept.map(([value, i]) => `${percent(value)} percent to ${spoken(matrix.columns[i])}`);
  return `${spoken(matrix.rows[row])} attends ${parts.join(", ")}`;
}

/** The largest missing mass of a row, where it counts. */
export const missingMass = (matrix: Matrix): number => {
  const most = Math.max(0, ...matrix.missing);
  return most > 0.001 ? most : 0;
};

export function toCsv(matrix: Matrix): string {
  const quoted = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [["", ...matrix.columns.map(spoken)], ...matrix.rows.map((row, i) => [spoken(row), ...matrix.values[i]])];
  return lines.map((line) => line.map((value) => quoted(String(value))).join(",")).join("\r\n") + "\r\n";
}

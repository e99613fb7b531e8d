import { expect, test } from "vitest";
import { difference, scaled, sentence, spoken, toCsv, toMatrix } from "./matrix";
import type { Document, Piece } from "./types";

const piece = (text: string, word: number | null, span: [number, number] | null): Piece => ({
  text, word, span, id: 0, special: word === null ? "EOS" : null,
});
const document: Document = {
  name: "m",
  source: {
    text: "lights", language: "en", direction: "ltr",
    pieces: [piece("light", 0, [0, 5]), piece("s", 0, [5, 6]), piece("", null, null)],
    words: [{ text: "lights", span: [0, 6] }],
  },
  target: { text: "लाइट", language: "hi", direction: "ltr", pieces: [piece("लाइट", 0, [0, 4])], words: [{ text: "लाइट", span: [0, 4] }] },
  attention: { shape: [1, 2, 1, 3], unit: "piece", layers: [0], data: [[[[0.5, 0.3, 0.2]], [[0.7, 0.3, 0]]]] },
  word_attention: { shape: [1, 1], unit: "word", data: [[0.9]], elsewhere: [0.1], missing: [0] },
  gold: [[0, 0]],
  caption: null,
};

test("word rows have the mass of EOS as a column and the spoken sentence", () => {
  const matrix = toMatrix(document, "word")!;
  expect(matrix.values).toEqual([[0.9, 0.1]]);
  expect(matrix.columns.map(spoken)).toEqual(["lights", "EOS"]);
  expect(sentence(matrix, 0, 0)).toBe("लाइट attends 90 percent to lights; a gold link");
  expect(sentence(matrix, 0, 1)).toBe("लाइट attends 10 percent to EOS");
});

test("pieces are drawn as parts of their word; heads are averaged or chosen", () => {
  const matrix = toMatrix(document, "piece")!;
  expect(matrix.columns.map((token) => [token.text, token.part])).toEqual([["lights", [0, 5]], ["lights", [5, 6]], ["", null]]);
  expect(matrix.values[0][0]).toBeCloseTo(0.6);
  expect(toMatrix(document, "piece", null, 1)!.values).toEqual([[0.7, 0.3, 0]]);
  expect(spoken(matrix.columns[1])).toBe("s");
});

test("scales, differences and CSV", () => {
  const matrix = toMatrix(document, "word")!;
  expect(scaled(matrix, "row")[0][0]).toBe(1);
  expect(scaled(matrix, "root")[0][1]).toBeCloseTo(0.3162);
  expect(difference(matrix, matrix)!.values).toEqual([[0, 0]]);
  expect(difference(matrix, { ...matrix, rows: [] })).toBeNull();
  expect(toCsv({ ...matrix, rows: [{ ...matrix.rows[0], text: 'a"b,' }] })).toBe(',lights,EOS\r\n"a""b,",0.9,0.1\r\n');
});

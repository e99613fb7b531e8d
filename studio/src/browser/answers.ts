// The JSON of /api/v1 from hypotheses: src/regard/server/answers.py and sides.py.
import type { Candidate, Hypothesis as Answered, Piece, Side, Special, StepSummary, WordAttention } from "../lib/types";
import type { StepAnswer, StepLayer } from "../lib/view_types";
import type { Opened } from "./engine";
import { best, logSum, type Hypothesis } from "./search";
import type { Source } from "./source";
import { writeText } from "./source";
import { EOS } from "./subwords";
import type { Encoding } from "./tokenizer";

const NAMES: Special[] = ["PAD", "UNK", "BOS", "EOS"];
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
export const NO_ATTENTION = "one fixed vector, no alignment exists";

function direction(text: string): Side["direction"] {
  const letter = /\p{L}/u.exec(text)?.[0];
  return letter && RIGHT_TO_LEFT.test(letter) ? "rtl" : "ltr";
}

/** Places in `text` of parts that follow each other, in code points; null where a part is not found. */
function find(text: string, parts: string[]): ([number, number] | null)[] {
  let place = 0;
  return parts.map((part) => {
    const start = part ? text.indexOf(part, place) : -1;
    if (start < 0) return null;
    const before = Array.from(text.slice(0, start)).length;
    place = start + part.length;
    return [before, before + Array.from(part).length];
  });
}

function piece(text: string, id: number, span: Piece["span"], word: number | null): Piece {
  const special = NAMES[id] ?? null;
  if (special && special !== "UNK") return { text: "", id, span: null, word: null, special };
  return { text: text.replaceAll("▁", ""), id, span, word, special };
}

function side(text: string, language: string | null, pieces: Piece[], wordTexts: string[]): Side {
  const end = Array.from(text).length;
  const words = find(text, wordTexts).map((span, i) => ({ text: wordTexts[i], span: span ?? ([end, end] as [number, number]) }));
  return { text, language, direction: direction(text), pieces, words };
}

export function sourceSide(encoding: Encoding, language: string | null): Side {
  const pieces = encoding.ids.map((id, i) => piece(encoding.pieces[i], id, encoding.spans[i], encoding.words[i]));
  return side(encoding.text, language, pieces, encoding.wordTexts);
}

/** One hypothesis with its text, and its weights cut to the source: [layer][head][target][source]. */
export interface Built {
  found: Hypothesis;
  target: Side;
  wordOf: (number | null)[];
  attention: number[][][][] | null;
}

export function build(found: Hypothesis, source: Source, opened: Opened, given: Encoding | null, forced: boolean): Built {
  const { encoding } = source;
  const { layers, heads, has_attention } = opened.about;
  const attention = has_attention && found.places.length ? weightsOf(found, layers, heads, encoding.ids.length) : null;
  let matrix = attention && combined(attention, opened.head);
  if (matrix && opened.shift) matrix = [...matrix.slice(opened.shift), ...matrix.slice(0, opened.shift).map((row) => row.map(() => 0))];
  const written =
    forced && given ? given : writeText(found.tokens, found.values, matrix, encoding, opened.target, given);
  const spans = find(written.text, written.pieces.map((one) => one.replaceAll("▁", "")));
  const pieces = found.tokens.map((id, i) => piece(written.pieces[i], id, spans[i], written.words[i]));
  return {
    found,
    target: side(written.text, opened.about.target_language, pieces, written.wordTexts),
    wordOf: written.words,
    attention,
  };
}

function weightsOf(found: Hypothesis, layers: number, heads: number, length: number): number[][][][] {
  const rows = found.places.map(({ step, row }) => {
    const width = step.weights!.length / step.rows;
    return { data: step.weights!.subarray(row * width, (row + 1) * width), source: width / (layers * heads) };
  });
  const range = (count: number) => Array.from({ length: count }, (_, i) => i);
  return range(layers).map((layer) =>
    range(heads).map((head) =>
      rows.map(({ data, source }) => Array.from(data.subarray((layer * heads + head) * source, (layer * heads + head) * source + length))),
    ),
  );
}

/** The head that training taught to align, else the mean of all. */
function combined(attention: number[][][][], head: [number, number] | null): number[][] {
  if (head) return attention[head[0]][head[1]];
  const all = attention.flat();
  return all[0].map((row, t) => row.map((_, s) => all.reduce((sum, one) => sum + one[t][s], 0) / all.length));
}

function wordAttention(built: Built, source: Encoding, opened: Opened): WordAttention | null {
  if (!built.attention) return null;
  const matrix = combined(built.attention, opened.head);
  const [targets, sources] = [built.target.words.length, source.wordTexts.length];
  const sums = Array.from({ length: targets }, () => Array<number>(sources + 1).fill(0));
  const counts = Array<number>(targets).fill(0);
  built.wordOf.forEach((word, t) => {
    const row = matrix[t + opened.shift];
    if (word === null || !row) return;
    counts[word]++;
    row.forEach((weight, s) => (sums[word][source.words[s] ?? sources] += weight));
  });
  const looks = sums.map((row, t) => row.map((value) => value / Math.max(1, counts[t])));
  const missing = looks.map((row) => Math.max(0, 1 - row.reduce((sum, value) => sum + value, 0)));
  return {
    shape: [targets, sources],
    unit: "word",
    data: looks.map((row) => row.slice(0, sources)),
    elsewhere: looks.map((row) => row[sources]),
    missing: missing.map((value) => (value < 1e-6 ? 0 : value)),
  };
}

function links(words: WordAttention | null): [number, number][] | null {
  const found = (words?.data ?? []).flatMap((row, target): [number, number][] => {
    const most = Math.max(...row);
    return most > 0 ? [[row.indexOf(most), target]] : [];
  });
  return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

function entropyOf(row: number[]): number {
  const total = row.reduce((sum, value) => sum + value, 0);
  return total > 0 ? Math.max(0, -row.reduce((sum, value) => (value > 0 ? sum + (value / total) * Math.log(value / total) : sum), 0)) : 0;
}

/** Entropy and most probable words of a step. */
function distribution(built: Built, step: number, opened: Opened, count: number): { entropy: number; top: Candidate[] } {
  const { step: found, row } = built.found.places[step];
  const size = opened.model.vocabulary;
  const start = row * size;
  const norm = logSum(found.logits, start, size);
  let entropy = 0;
  for (let i = start; i < start + size; i++) entropy -= Math.exp(found.logits[i] - norm) * (found.logits[i] - norm);
  const top = best(found.logits, start, size, count).map((id): Candidate => {
    const special = NAMES[id] ?? null;
    const text = special ? "" : opened.target.pieces[id].replaceAll("▁", "");
    return { id, text, special, probability: Math.exp(found.logits[start + id] - norm) };
  });
  return { entropy, top };
}

export function hypothesisAnswer(built: Built, source: Encoding, opened: Opened, given: number, forced: boolean, top: number): Answered {
  const { found, attention } = built;
  const words = wordAttention(built, source, opened);
  const steps = found.tokens.map((_, step): StepSummary => {
    const spread = attention?.flat().map((one) => entropyOf(one[step]));
    const shown = top && found.places.length ? distribution(built, step, opened, top) : { entropy: null, top: [] };
    return {
      probability: Math.exp(found.values[step]),
      log_probability: found.values[step],
      forced: step < given,
      attention_entropy: spread ? spread.reduce((sum, one) => sum + one, 0) / spread.length : null,
      ...shown,
    };
  });
  return {
    target: built.target,
    score: found.score,
    normalised_score: found.merit,
    finished: found.finished,
    forced,
    steps,
    attention: attention && {
      shape: [attention.length, attention[0].length, found.tokens.length, source.ids.length],
      unit: "piece",
      layers: attention.map((_, i) => i),
      data: attention,
    },
    word_attention: words,
    alignment: links(words),
  };
}

/** The six stages of one step. */
export function stepAnswer(built: Built, source: Source, opened: Opened, place: number, given: number, edited: number | null, top: number): StepAnswer {
  const { found, target } = built;
  const { about } = opened;
  return {
    model: about.id,
    source: sourceSide(source.encoding, about.source_language),
    target,
    step: place,
    steps: found.tokens.length,
    query_name: { input: "s_{t-1}", output: "s_t" }[about.placement ?? ""] ?? "x_t",
    reads: place ? target.pieces[place - 1] : piece("", 2, null, null),
    writes: target.pieces[place],
    probability: Math.exp(found.values[place]),
    forced: place < given,
    edited: edited === place,
    layers: built.attention ? built.attention.map((_, layer) => layerOf(built, opened, place, layer, source.encoding.ids.length)) : [],
    no_attention: about.has_attention ? null : NO_ATTENTION,
    ...distribution(built, place, opened, top),
    warnings: source.warnings,
  } as StepAnswer;
}

function layerOf(built: Built, opened: Opened, place: number, layer: number, length: number): StepLayer {
  const { step, row } = built.found.places[place];
  const { layers, heads, window, reach } = opened.about;
  const part = (name: string) => {
    const width = step.trace[name].length / (step.rows * layers);
    return step.trace[name].subarray((row * layers + layer) * width, (row * layers + layer + 1) * width);
  };
  const raw = part("scores");
  const source = raw.length / heads;
  const places = Array.from({ length }, (_, i) => i);
  let center: number | null = null;
  if (window === "local-m") center = Math.min(place, Math.max(length - 1, 0));
  if (window === "local-p") center = step.trace.center[row];
  const near = (i: number) => center === null || Math.abs(Math.fround(i - center)) <= reach!;
  return {
    query: Array.from(part("query")),
    scores: Array.from({ length: heads }, (_, head) => places.map((i) => raw[head * source + i])),
    mask: Array.from({ length: heads }, () => places.map(near)),
    weights: built.attention![layer].map((head) => head[place]),
    window:
      center === null
        ? null
        : {
            kind: window as "local-m" | "local-p",
            center,
            reach: reach!,
            gaussian: window === "local-p" ? places.map((i) => Math.exp(-((i - center) ** 2) / (2 * (reach! / 2) ** 2))) : null,
          },
    context: Array.from(part("context")),
  };
}

/** Sums over the pieces of each target word, then EOS if it was written. */
export function byWord(built: Built, values: number[]): number[] {
  const sums = built.target.words.map(() => 0);
  values.forEach((value, i) => {
    const word = built.wordOf[i];
    if (word !== null) sums[word] += value;
  });
  return built.found.tokens.at(-1) === EOS ? [...sums, values[values.length - 1]] : sums;
}

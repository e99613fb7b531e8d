// Greedy, beam and sampled search: the rules of src/regard/search, one loop for all of them.
import type { Model, Outputs } from "./model";
import { sampler, type Sampling } from "./sampling";
import { BOS, EOS, PAD, UNK } from "./subwords";

export interface SearchConfig {
  beam: number;
  nbest: number;
  longest: number | { factor: number; offset: number };
  length_penalty: number;
  length_form: "power" | "gnmt";
  coverage_penalty: number;
  no_repeat_ngram: number;
  forbid_unk: boolean;
  temperature: number | null;
  top_k: number | null;
  top_p: number | null;
  seed: number;
}

/** One step of a hypothesis: the place of its row in what the model gave. */
interface Place {
  step: Outputs;
  row: number;
}

export interface Hypothesis {
  sentence: number;
  tokens: number[];
  values: number[];
  places: Place[];
  score: number;
  finished: boolean;
  /** The score by which hypotheses are ranked. */
  merit: number;
  /** With a coverage penalty: the attention that each source position received. */
  seen: Float64Array | null;
}

export interface Options {
  prefixes?: number[][];
  edit?: { step: number; weights: number[] } | null;
  traced?: boolean;
  /** Called before every step, with the live hypotheses. May wait; throws to end the search. */
  progress?: (live: Hypothesis[], ended: Hypothesis[][]) => Promise<void> | void;
  /** Without distributions: logits are not kept. */
  lean?: boolean;
  /** Greedy search does not need log-probabilities to choose; where only the text counts, it saves a tenth of the time. */
  unscored?: boolean;
}

const LONGEST = 100_000;
const UNSEEN = 1e-3;
const NONE = new Float32Array(0);

export function limitOf(config: SearchConfig, length: number, most: number | null): number {
  const { longest } = config;
  const limit = typeof longest === "number" ? longest : Math.ceil(Math.fround(length * longest.factor)) + longest.offset;
  return Math.min(limit, most ?? LONGEST, LONGEST);
}

const divisor = (config: SearchConfig, length: number): number => {
  const base = config.length_form === "gnmt" ? (5 + Math.max(length, 1)) / 6 : Math.max(length, 1);
  return base ** config.length_penalty;
};

/** log Σ exp of a row. */
export function logSum(logits: Float32Array, start: number, size: number): number {
  let most = -Infinity;
  for (let i = start; i < start + size; i++) if (logits[i] > most) most = logits[i];
  let sum = 0;
  for (let i = start; i < start + size; i++) sum += Math.exp(logits[i] - most);
  return most + Math.log(sum);
}

/** The `count` highest of a row, equal ones by rising id. */
export function best(logits: Float32Array, start: number, size: number, count: number, banned?: Set<number>): number[] {
  const ids: number[] = [];
  let floor = -Infinity;
  for (let id = 0; id < size; id++) {
    const value = logits[start + id];
    if (!(value > floor) || banned?.has(id)) continue;
    let place = ids.length;
    while (place > 0 && logits[start + ids[place - 1]] < value) place--;
    ids.splice(place, 0, id);
    if (ids.length > count) ids.pop();
    if (ids.length === count) floor = logits[start + ids[count - 1]];
  }
  return ids;
}

/** The tokens that would complete an n-gram of this size for the second time. */
function repeated(history: number[], size: number): number[] {
  const found: number[] = [];
  const tail = history.slice(history.length - size + 1);
  for (let start = 0; start + size <= history.length; start++) {
    if (tail.every((token, i) => history[start + i] === token)) found.push(history[start + size - 1]);
  }
  return found;
}

interface Candidate {
  parent: number;
  token: number;
  value: number;
}

/** All hypotheses of each sentence, best first; samples in the order drawn. */
export async function search(
  model: Model,
  sources: number[][],
  limits: number[],
  config: SearchConfig,
  options: Options = {},
): Promise<Hypothesis[][]> {
  const sampling = config.temperature === null ? null : sampler(config as SearchConfig & Sampling);
  const ended: Hypothesis[][] = sources.map(() => []);
  const begin = (sentence: number): Hypothesis => ({
    sentence, tokens: [], values: [], places: [], score: 0, finished: false, merit: 0, seen: null,
  });
  let rows = limits.flatMap((limit, i) => (limit > 0 ? Array<number>(sampling ? config.nbest : 1).fill(i) : []));
  limits.forEach((limit, i) => limit <= 0 && ended[i].push(begin(i)));
  if (!rows.length) return ended;
  const padded = Math.max(...sources.map((ids) => ids.length));
  let live = rows.map(begin);
  let state = model.select(await model.start(sources), rows);
  const forbidden = config.forbid_unk ? [PAD, BOS, UNK] : [PAD, BOS];
  for (let position = 0; live.length; position++) {
    await options.progress?.(live, ended);
    const tokens = live.map((one) => one.tokens.at(-1) ?? BOS);
    const given = options.edit?.step === position ? options.edit.weights : null;
    const { outputs: step, state: after } = await model.step(tokens, state, given, options.traced);
    const candidates = live.map((one, row): Candidate[] => {
      const start = row * model.vocabulary;
      const greedy = options.unscored && config.beam === 1 && !sampling;
      const norm = greedy ? step.logits[start] : logSum(step.logits, start, model.vocabulary);
      if (!Number.isFinite(norm)) throw new Error("The model gave a value that is not a number: its file is damaged.");
      const forced = options.prefixes?.[one.sentence]?.[position];
      const value = (token: number) => step.logits[start + token] - norm;
      if (forced !== undefined) return [{ parent: row, token: forced, value: value(forced) }];
      const banned = new Set(forbidden);
      if (config.no_repeat_ngram) for (const token of repeated(one.tokens, config.no_repeat_ngram)) banned.add(token);
      const ids = sampling
        ? [sampling(step.logits.subarray(start, start + model.vocabulary), banned)]
        : best(step.logits, start, model.vocabulary, config.beam, banned);
      return ids.map((token) => ({ parent: row, token, value: value(token) }));
    });
    const kept = options.lean ? { ...step, logits: NONE } : step;
    const chosen = sampling || config.beam === 1 ? candidates.flat() : prune(candidates, live, config.beam);
    const going: [Hypothesis, number][] = [];
    for (const { parent, token, value } of chosen) {
      const grown = extend(live[parent], token, value, { step: kept, row: parent });
      if (config.coverage_penalty && config.beam > 1) cover(grown, { step, row: parent }, sources[grown.sentence].length, padded);
      if (token === EOS || grown.tokens.length >= limits[grown.sentence]) {
        grown.finished = token === EOS;
        grown.merit = grown.score / divisor(config, grown.tokens.length) + coverage(grown, config.coverage_penalty);
        ended[grown.sentence].push(grown);
      } else going.push([grown, parent]);
    }
    const rest = sampling || config.beam === 1 ? going : going.filter(([one]) => hopeful(one, ended[one.sentence], limits[one.sentence], config));
    live = rest.map(([one]) => one);
    rows = rest.map(([, parent]) => parent);
    if (live.length) state = model.select(after, rows);
  }
  if (sampling) return ended;
  return ended.map((group) =>
    group.sort((a, b) => Number(b.finished) - Number(a.finished) || b.merit - a.merit).slice(0, Math.max(1, config.nbest)),
  );
}

function extend(one: Hypothesis, token: number, value: number, place: Place): Hypothesis {
  return {
    ...one,
    tokens: [...one.tokens, token],
    values: [...one.values, value],
    places: [...one.places, place],
    score: one.score + value,
  };
}

/** The `beam` best continuations of each sentence; ties: the earlier row, then the better rank. */
function prune(candidates: Candidate[][], live: Hypothesis[], beam: number): Candidate[] {
  const kept: Candidate[] = [];
  for (let first = 0; first < live.length; ) {
    let last = first;
    while (last < live.length && live[last].sentence === live[first].sentence) last++;
    const all = candidates.slice(first, last).flat();
    const total = (one: Candidate) => live[one.parent].score + one.value;
    kept.push(...all.sort((a, b) => total(b) - total(a) || a.parent - b.parent).slice(0, beam));
    first = last;
  }
  return kept;
}

/** Whether a live hypothesis can still beat the nbest-th finished one. */
function hopeful(one: Hypothesis, ended: Hypothesis[], limit: number, config: SearchConfig): boolean {
  const merits = ended.filter((other) => other.finished).map((other) => other.merit);
  if (merits.length < config.nbest) return true;
  return one.score / divisor(config, limit) > merits.sort((a, b) => b - a)[config.nbest - 1];
}

function cover(grown: Hypothesis, { step, row }: Place, length: number, padded: number): void {
  if (!step.weights) return;
  const width = step.weights.length / step.rows; // layer · head · padded
  const seen = Float64Array.from(grown.seen ?? new Float64Array(length));
  for (let i = 0; i < width; i++) {
    if (i % padded < length) seen[i % padded] += (step.weights[row * width + i] * padded) / width;
  }
  grown.seen = seen;
}

const coverage = (one: Hypothesis, weight: number): number =>
  one.seen ? weight * one.seen.reduce((sum, value) => sum + Math.log(Math.min(Math.max(value, UNSEEN), 1)), 0) : 0;

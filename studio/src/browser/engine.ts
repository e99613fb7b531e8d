// Answers the requests of the views with a model in this browser: /translate, /step, /occlusion of the HTTP API.
import * as ort from "onnxruntime-web/wasm";
import { ApiError } from "../lib/api";
import type { ModelAbout, TranslateRequest, Translation } from "../lib/types";
import type { Occlusion, StepAnswer } from "../lib/view_types";
import { build, byWord, hypothesisAnswer, NO_ATTENTION, sourceSide, stepAnswer, type Built } from "./answers";
import { Model } from "./model";
import { readModel } from "./model_file";
import { wrong } from "./options";
import { limitOf, search, type Hypothesis, type SearchConfig } from "./search";
import { readSource, readsOneWord, spokenWords, unknownPieces, type Source } from "./source";
import { BOS, EOS, PAD } from "./subwords";
import { Tokenizer, type Encoding } from "./tokenizer";

export interface Opened {
  about: ModelAbout;
  model: Model;
  source: Tokenizer;
  target: Tokenizer;
  head: [number, number] | null;
  shift: number;
  search: SearchConfig;
  eos: boolean;
  longest: number;
  most: number | null;
}

export interface Hooks {
  /** Called often: returns once messages were read, throws where the request was given up. */
  pause: () => Promise<void>;
  partial?: (make: () => Translation) => void;
}

const ROWS = 16; // sentences that are decoded together
const MOST_WORDS = 200;

export function startRuntime(wasm: ArrayBuffer): void {
  ort.env.wasm.wasmBinary = wasm;
  ort.env.wasm.numThreads = 1;
}

export async function openModel(bytes: Uint8Array): Promise<Opened> {
  const file = readModel(bytes);
  const open = (graph: Uint8Array) =>
    ort.InferenceSession.create(graph, {
      executionProviders: ["wasm"],
      externalData: [{ path: "weights.bin", data: file.weights }],
      logSeverityLevel: 3,
    });
  const [encoder, decoder] = [await open(file.encoder), await open(file.decoder)];
  return {
    about: file.about,
    model: new Model(ort, encoder, decoder, file.shared, file.target_vocabulary),
    source: new Tokenizer(file.source),
    target: new Tokenizer(file.target),
    head: file.head,
    shift: file.shift,
    search: file.search,
    eos: file.source_eos,
    longest: file.longest_source,
    most: file.most_pieces,
  };
}

function read(text: string, opened: Opened): Source {
  const { source, target, eos, longest } = opened;
  if (!readsOneWord(source, target)) return readSource(text, source, eos, longest);
  const { words, warnings } = spokenWords(text, source);
  if (words.length > 1) throw wrong("text", `“${words.join(" ")}” has ${words.length} words, and this model reads one at a time: give one word`);
  const found = readSource(words[0], source, eos, longest);
  return { ...found, warnings: warnings.length ? [...warnings, ...(found.blank ? [] : found.warnings)] : found.warnings };
}

/** The model's settings with the changes of a request; settings that contradict a change are reset. */
function configOf(opened: Opened, request: TranslateRequest): SearchConfig {
  const config = { ...opened.search };
  const { beam, nbest, temperature, top_k, top_p, seed, length_penalty, attention_edit } = request;
  if (length_penalty != null) config.length_penalty = length_penalty;
  if (temperature) return { ...config, temperature, top_k: top_k ?? null, top_p: top_p ?? null, seed: seed ?? 0, beam: 1, nbest: nbest ?? 1 };
  if (beam != null || attention_edit) Object.assign(config, { temperature: null, top_k: null, top_p: null, beam: attention_edit ? 1 : beam });
  config.nbest = nbest ?? 1;
  if (config.temperature === null && config.nbest > config.beam) config.beam = config.nbest;
  return config;
}

function givenBy(request: TranslateRequest, opened: Opened): Encoding | null {
  const { target } = opened;
  if (request.mode === "forced") return target.encode(request.target ?? "", true);
  if (request.prefix) return target.encode(request.prefix);
  const ids = request.prefix_ids;
  if (!ids) return null;
  const fits = (id: number, i: number) => id < target.pieces.length && id !== PAD && id !== BOS && (id !== EOS || i === ids.length - 1);
  if (!ids.every(fits)) throw wrong("prefix_ids", "an id is no piece of this model that may stand there");
  return { ...target.decode(ids), ids, spans: ids.map(() => [0, 0]) };
}

interface Decoded {
  source: Source;
  given: Encoding | null;
  forced: boolean;
  found: Built[];
}

async function decode(opened: Opened, request: TranslateRequest, hooks: Hooks, traced: boolean): Promise<Decoded> {
  const forced = request.mode === "forced";
  const source = read(request.text, opened);
  const given = givenBy(request, opened);
  const edit = request.attention_edit ?? null;
  const { ids } = source.encoding;
  if (source.blank) return { source, given, forced, found: [] };
  if (edit && !opened.about.has_attention) throw wrong("attention_edit", "this model has no attention to edit");
  if (edit && edit.weights.length !== ids.length) throw wrong("attention_edit.weights", `${edit.weights.length} given, but the source has ${ids.length} pieces`);
  const config = forced ? { ...opened.search, beam: 1, nbest: 1, temperature: null } : configOf(opened, request);
  const limit = forced ? given!.ids.length : limitOf(config, ids.length, opened.most);
  if (opened.most !== null && given && given.ids.length > opened.most) throw wrong("target", `${given.ids.length} pieces given, this model writes at most ${opened.most}`);
  if (given && given.ids.length > limit) throw wrong("prefix", `${given.ids.length} pieces are more than the ${limit} its translation may have`);
  const wide = config.nbest > 1 && config.temperature === null ? { ...config, nbest: config.beam } : config;
  const progress = async (live: Hypothesis[], ended: Hypothesis[][]) => {
    await hooks.pause();
    const best = [...live].sort((a, b) => b.score / b.tokens.length - a.score / a.tokens.length)[0];
    if (hooks.partial && best.tokens.length && !ended[0].length && !forced) {
      hooks.partial(() => answerOf(opened, { source, given, forced, found: [build(best, source, opened, given, false)] }, 0, 0));
    }
  };
  const [all] = await search(opened.model, [ids], [limit], wide, { prefixes: given ? [given.ids] : undefined, edit, traced, progress });
  if (!all.length) throw new ApiError(422, "invalid", "No piece is possible here: all that the model allows is forbidden.");
  let found = all.map((one) => build(one, source, opened, given, forced));
  if (config.temperature === null) {
    const texts = found.map((one) => one.target.text);
    found = found.filter((one, i) => texts.indexOf(one.target.text) === i).slice(0, config.nbest);
  }
  return { source, given, forced, found };
}

function warningsOf({ source, given, forced }: Decoded, { found }: Built): string[] {
  const unknown = given && unknownPieces(given);
  const warnings = unknown ? [...source.warnings, `unknown to this model, in the ${forced ? "target" : "prefix"}: ${unknown}`] : source.warnings;
  if (found.finished || forced) return warnings;
  return [...warnings, `the translation was cut after ${found.tokens.length} pieces, before its end`];
}

function answerOf(opened: Opened, decoded: Decoded, top: number, milliseconds: number): Translation {
  const { source, given, forced, found } = decoded;
  const warnings = milliseconds && found.length ? warningsOf(decoded, found[0]) : source.warnings;
  return {
    model: opened.about.id,
    mode: forced ? "forced" : "free",
    source: sourceSide(source.encoding, opened.about.source_language),
    hypotheses: found.map((one) => hypothesisAnswer(one, source.encoding, opened, given?.ids.length ?? 0, forced, top)),
    no_attention: opened.about.has_attention ? null : NO_ATTENTION,
    gold: null,
    beam_id: null,
    timings: { queued: 0, decoding: milliseconds, total: milliseconds, batch: 1 },
    warnings,
  };
}

export async function translate(opened: Opened, request: TranslateRequest & { attention?: boolean | null }, hooks: Hooks): Promise<Translation> {
  const begun = performance.now();
  const { layer, attention } = request;
  const { layers, has_attention } = opened.about;
  if (layer != null && has_attention && layer >= layers) throw wrong("layer", `${layer} given, this model has layers 0 to ${layers - 1}`);
  const decoded = await decode(opened, request, hooks, false);
  const answer = answerOf(opened, decoded, request.top ?? 0, Math.max(performance.now() - begun, 1e-3));
  for (const one of answer.hypotheses) {
    if (attention === false) one.attention = one.word_attention = null;
    else if (layer != null && one.attention) one.attention = { ...one.attention, layers: [layer], data: [one.attention.data[layer]] };
  }
  return answer;
}

export async function step(opened: Opened, request: TranslateRequest & { step?: number; hypothesis?: number }, hooks: Hooks): Promise<StepAnswer> {
  const decoded = await decode(opened, request, { pause: hooks.pause }, true);
  const place = request.step ?? 0;
  const built = decoded.found[request.hypothesis ?? 0];
  if (!decoded.found.length) throw wrong("text", "it is blank, so there is no step to look at");
  if (!built) throw wrong("hypothesis", `${request.hypothesis} given, there are ${decoded.found.length}, counted from 0`);
  if (place >= built.found.tokens.length) throw wrong("step", `${place} given, this translation has ${built.found.tokens.length} steps, counted from 0`);
  const source = { ...decoded.source, warnings: warningsOf(decoded, built) };
  return stepAnswer(built, source, opened, place, decoded.given?.ids.length ?? 0, request.attention_edit?.step ?? null, request.top ?? 0);
}

/** Drops each source word in turn and forces the translation of the whole, or the given target. */
export async function occlusion(opened: Opened, request: TranslateRequest, hooks: Hooks): Promise<Occlusion> {
  const requested: TranslateRequest = request.target != null ? { ...request, mode: "forced" } : { text: request.text, beam: 1 };
  const decoded = await decode(opened, requested, { pause: hooks.pause }, false);
  const { source, forced, found: [built] } = decoded;
  if (!built) throw wrong("text", "it is blank: there is no word to drop");
  const { encoding } = source;
  const words = encoding.wordTexts.length;
  if (words > MOST_WORDS) throw wrong("text", `${words} words given, at most ${MOST_WORDS} are dropped one by one`);
  const { tokens, values } = built.found;
  const before = byWord(built, values);
  const rows: Occlusion["rows"] = [];
  const config = { ...opened.search, beam: 1, nbest: 1, temperature: null };
  for (let first = 0; words > 1 && first < words; first += ROWS) {
    const group = Array.from({ length: Math.min(ROWS, words - first) }, (_, i) => first + i);
    const left = group.map((word) => encoding.ids.filter((_, i) => encoding.words[i] !== word));
    const scored = await search(opened.model, left, left.map(() => tokens.length), config, {
      prefixes: left.map(() => tokens),
      lean: true,
      progress: hooks.pause,
    });
    scored.forEach(([one], i) => {
      const after = byWord(built, one.values);
      rows.push({ word: group[i], log_probabilities: after, changes: after.map((value, k) => value - before[k]) });
    });
  }
  return {
    model: opened.about.id,
    source: sourceSide(encoding, opened.about.source_language),
    target: built.target,
    forced,
    log_probabilities: before,
    rows,
    warnings: warningsOf(decoded, built),
  };
}

/** The texts of many sentences, decoded together by similar length; a model of single words reads them word by word. */
export async function translateMany(opened: Opened, texts: string[], beam: number, hooks: Hooks, together = ROWS): Promise<string[]> {
  if (!readsOneWord(opened.source, opened.target)) return translateEach(opened, texts, beam, hooks, together);
  const spoken = texts.map((text) => spokenWords(text, opened.source).words);
  const done = await translateEach(opened, spoken.flat(), beam, hooks, together);
  return spoken.map((words) => done.splice(0, words.length).join(" | "));
}

async function translateEach(opened: Opened, texts: string[], beam: number, hooks: Hooks, together: number): Promise<string[]> {
  const sources = texts.map((text) => read(text, opened));
  const done = texts.map(() => "");
  const order = [...texts.keys()].filter((i) => !sources[i].blank);
  order.sort((a, b) => sources[b].encoding.ids.length - sources[a].encoding.ids.length);
  const config = { ...opened.search, beam, nbest: 1, temperature: null };
  const unscored = opened.target.kind !== "word"; // words that are copied replace the least probable ones
  for (let first = 0; first < order.length; first += together) {
    const group = order.slice(first, first + together);
    const ids = group.map((i) => sources[i].encoding.ids);
    const limits = ids.map((one) => limitOf(config, one.length, opened.most));
    const found = await search(opened.model, ids, limits, config, { lean: true, unscored, progress: hooks.pause });
    found.forEach(([one], k) => (done[group[k]] = one ? build(one, sources[group[k]], opened, null, false).target.text : ""));
  }
  return done;
}

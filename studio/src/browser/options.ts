// Checks what a program or an address asks for, before anything is loaded: the limits of src/regard/server/schema.
import { ApiError } from "../lib/api";

export const LIMITS = { characters: 5000, beam: 16, nbest: 16, top: 50 };
const QUOTED = 80; // characters of a value that a message shows
const SLACK = 1e-3; // the sum of edited weights may exceed 1 by this much: sliders are not exact

type Check = (name: string, value: unknown) => void;
type Options = Record<string, any>;

export const wrong = (field: string, problem: string) => new ApiError(422, "invalid", `${field}: ${problem}`, null, field);
const grouped = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 3 });
const cut = (text: string): string => (text.length <= QUOTED ? text : `${text.slice(0, QUOTED - 1)}…`);

function shown(value: unknown): string {
  if (typeof value === "string") return cut(`'${value}'`);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value ? "an object" : typeof value === "function" ? "a function" : cut(String(value));
}

const expect = (accepted: (value: any) => boolean, expected: string): Check => (name, value) => {
  if (!accepted(value)) throw wrong(name, `${shown(value)} given, expected ${expected}`);
};

const within = (value: unknown, least: number, most: number) => typeof value === "number" && value >= least && value <= most;
const whole = (least: number, most: number) =>
  expect((value) => Number.isInteger(value) && within(value, least, most), `a whole number from ${least} to ${grouped(most)}`);
const number = (least: number, most: number, expected = `a number from ${least} to ${most}`) =>
  expect((value) => within(value, least, most), expected);
const flag = expect((value) => typeof value === "boolean", "true or false");
const string = expect((value) => typeof value === "string", "a string");
const array = expect(Array.isArray, "an array");
const object = expect((value) => typeof value === "object" && value !== null && !Array.isArray(value), "an object of options");

const text: Check = (name, value) => {
  string(name, value);
  const { length } = value as string;
  const problem = `${name}: ${grouped(length)} characters given, at most ${grouped(LIMITS.characters)} accepted`;
  if (length > LIMITS.characters) throw new ApiError(413, "too_long", problem, null, name);
  if (/\p{Surrogate}/u.test(value as string)) throw wrong(name, "half of a surrogate pair is not a character");
};

const list = (check: Check, least = 0, most = Infinity): Check => (name, value) => {
  array(name, value);
  const { length } = value as unknown[];
  if (length < least || length > most) throw wrong(name, `${grouped(length)} entries given, expected ${least} to ${grouped(most)}`);
  for (let i = 0; i < length; i++) check(`${name}[${i}]`, (value as unknown[])[i]);
};

/** Twice the letters that both have in the same order, as a share of all their letters. */
function likeness(one: string, other: string): number {
  let row = Array<number>(other.length + 1).fill(0);
  for (const letter of one) {
    const next = [0];
    for (let i = 0; i < other.length; i++) next.push(other[i] === letter ? row[i] + 1 : Math.max(row[i + 1], next[i]));
    row = next;
  }
  return (2 * row[other.length]) / (one.length + other.length);
}

/** The end of a message about an unknown name: src/regard/suggest.py. */
function suggest(given: string, valid: string[]): string {
  const plain = (name: string) => cut(name).toLowerCase().replace(/[_-]/g, "");
  const likely = valid.map((name) => likeness(plain(given), plain(name)));
  const most = Math.max(...likely);
  return most >= 0.6 ? `did you mean '${valid[likely.indexOf(most)]}'?` : `valid options are ${valid.join(", ")}`;
}

/** An object with these keys alone; null and undefined mean that an option is left out. */
const options = (known: Record<string, Check>, required: string[], within = ""): Check => (name, value) => {
  object(name, value);
  const [given, valid] = [value as Options, Object.keys(known)];
  for (const key of Object.keys(given)) {
    if (!valid.includes(key)) throw new ApiError(422, "invalid", `${name} has no option ${shown(key)}: ${suggest(key, valid)}`, null, key);
  }
  const missing = required.find((key) => given[key] == null);
  if (missing) throw wrong(within + missing, "required, but not given");
  for (const key of valid) if (given[key] != null) known[key](within + key, given[key]);
};

const model = expect((value) => typeof value === "string" && value.length <= 255, "a string of at most 255 characters");
const beam = whole(1, LIMITS.beam);
const step = whole(0, 100_000);
const decoding: Record<string, Check> = {
  model,
  text,
  mode: expect((value) => value === "free" || value === "forced", "'free' or 'forced'"),
  target: text,
  prefix: text,
  prefix_ids: list(whole(0, 1_000_000), 0, 1000),
  beam,
  nbest: whole(1, LIMITS.nbest),
  temperature: number(0.001, 100),
  top_k: whole(1, 1_000_000),
  top_p: number(Number.MIN_VALUE, 1, "a number above 0, at most 1"),
  seed: whole(0, 2 ** 53),
  length_penalty: number(0, 10),
  attention_edit: options({ step, weights: list(number(0, 1 + SLACK, "a number from 0 to 1"), 1, 100_000) }, ["step", "weights"], "attention_edit."),
};
const kinds = {
  translate: options({ ...decoding, top: whole(0, LIMITS.top), layer: whole(0, 64), attention: flag }, ["text"]),
  step: options({ ...decoding, top: whole(1, LIMITS.top), step, hypothesis: whole(0, LIMITS.nbest - 1) }, ["text"]),
  occlusion: options({ model, text, target: text }, ["text"]),
  many: options({ model, texts: list(text), beam, together: whole(1, 64) }, ["model", "texts"]),
  tokens: options({ model, texts: list(text), target: flag }, ["model", "texts"]),
};
export type Kind = keyof typeof kinds;

/** Throws one ApiError about the first wrong option. */
export function check(kind: Kind, request: unknown): void {
  kinds[kind](kind, request);
  if (kind === "translate" || kind === "step") agree(request as Options);
}

const FREE = ["prefix", "prefix_ids", "beam", "temperature", "top_k", "top_p", "length_penalty"];

/** Options that are valid alone and contradict each other: src/regard/server/planning.py, search_config.py. */
function agree(request: Options): void {
  const { mode, target, prefix, prefix_ids, beam, nbest, temperature, top_k, top_p, attention_edit } = request;
  if (mode !== "forced" && target != null) throw wrong("target", "it needs mode forced; in free mode a prefix begins the translation");
  if (prefix != null && prefix_ids != null) throw wrong("prefix_ids", "give prefix or prefix_ids, not both");
  if (mode === "forced") {
    if (target == null) throw wrong("target", "mode forced needs the target to force");
    const given = FREE.find((key) => request[key] != null) ?? (nbest > 1 ? "nbest" : null);
    if (given) throw wrong(given, "mode forced has no free pieces: leave it out");
  }
  if (attention_edit) {
    if (beam > 1 || nbest > 1) throw wrong("attention_edit", "it edits a single hypothesis: leave beam and nbest out, or set them to 1");
    const total = attention_edit.weights.reduce((sum: number, weight: number) => sum + weight, 0);
    if (total > 1 + SLACK) throw wrong("attention_edit.weights", `they sum to ${grouped(total)}: expected numbers of 0 or more that sum to at most 1`);
  }
  if (temperature == null) {
    if (top_k != null || top_p != null) throw wrong(top_k != null ? "top_k" : "top_p", "it needs a temperature; 1.0 leaves the model's distribution as it is");
    if (beam != null && nbest > beam) throw wrong("nbest", `${nbest} is more than beam ${beam} can find; raise beam to ${nbest}`);
  } else if (beam > 1) throw wrong("temperature", `it means sampling and beam ${beam} means beam search; leave one of them out`);
}

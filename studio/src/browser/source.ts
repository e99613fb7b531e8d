// Source texts as a model reads them, and translations as text: src/regard/runtime/source_text.py, build_translation.py.
import { EOS, UNK } from "./subwords";
import type { Decoded, Encoding, Tokenizer } from "./tokenizer";

export interface Source {
  encoding: Encoding;
  warnings: string[];
  blank: boolean;
}

const NAMED = 5;
const COPY_ATTENTION = 0.5;

const quoted = (piece: string): string => {
  const shown = Array.from(piece).length <= 24 ? piece : Array.from(piece).slice(0, 23).join("") + "…";
  return shown.includes("'") ? `"${shown}"` : `'${shown}'`;
};

const named = (pieces: string[]): string =>
  pieces.slice(0, NAMED).map(quoted).join(", ") + (pieces.length > NAMED ? ` and ${pieces.length - NAMED} more` : "");

/** The pieces that the vocabulary lacks, in quotes, each once; empty if there are none. */
export const unknownPieces = ({ ids, pieces }: Encoding): string => named([...new Set(pieces.filter((_, i) => ids[i] === UNK))]);

const SPOKEN = "#%&@";

/** Whether a model reads the letters of one word and writes symbols: src/regard/runtime/spoken_words.py. */
export const readsOneWord = (source: Tokenizer, target: Tokenizer): boolean =>
  source.kind === "character" && !source.pieces.includes(" ") && target.kind === "word" && target.unit === "spaces";

/** The words of a text in letters that the model knows, one empty word if there are none; é is read as e. */
export function spokenWords(text: string, tokenizer: Tokenizer): { words: string[]; warnings: string[] } {
  const known = new Set(tokenizer.pieces.slice(EOS + 1));
  const leftOut = new Set<string>();
  let letters = "";
  for (const one of tokenizer.normalise(text)) {
    const found = known.has(one) ? [one] : Array.from(one.normalize("NFKD")).filter((part) => known.has(part));
    letters += found.join("");
    if (!found.length && /[\p{P}\p{Z}]/u.test(one) && !SPOKEN.includes(one)) letters += " ";
    else if (!found.length && !/\p{M}/u.test(one)) leftOut.add(one);
  }
  const words = letters.split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word));
  const remedy = [...leftOut].some((one) => /\p{Nd}/u.test(one)) ? "; write numbers in words" : "";
  const warnings = leftOut.size ? [`unknown to this model and left out: ${named([...leftOut])}${remedy}`] : [];
  return { words: words.length ? words : [""], warnings };
}

/** At most `longest` pieces of a text, then EOS if `eos`. */
export function readSource(text: string, tokenizer: Tokenizer, eos: boolean, longest: number): Source {
  let encoding = tokenizer.encode(text, eos);
  if (!encoding.wordTexts.length) return { encoding, warnings: ["blank: nothing to translate"], blank: true };
  const warnings: string[] = [];
  const pieces = encoding.ids.length - Number(eos);
  if (pieces > longest) {
    const keep = <T>(all: T[]): T[] => [...all.slice(0, longest), ...(eos ? [all[pieces]] : [])];
    const words = keep(encoding.words);
    const seen = Math.max(-1, ...words.map((word) => word ?? -1)) + 1;
    encoding = {
      text: encoding.text,
      ids: keep(encoding.ids),
      pieces: keep(encoding.pieces),
      spans: keep(encoding.spans),
      words,
      wordTexts: encoding.wordTexts.slice(0, seen),
    };
    warnings.push(`too long: only the first ${longest} of ${pieces} pieces were read`);
  }
  const unknown = unknownPieces(encoding);
  if (unknown) warnings.push(`unknown to this model: ${unknown}`);
  return { encoding, warnings, blank: false };
}

/** The text of the tokens; unknown words are copied from the source piece that was looked at, a prefix keeps its spelling. */
export function writeText(
  tokens: number[],
  values: number[],
  matrix: number[][] | null,
  source: Encoding,
  tokenizer: Tokenizer,
  given: Encoding | null,
): Decoded {
  let replaced: (string | null)[] = tokens.map(() => null);
  if (source.ids.includes(UNK) || tokens.includes(UNK)) {
    replaced = copyUnknown(tokens, values, matrix, source, tokenizer.kind === "word", given?.ids.length ?? 0);
  }
  given?.ids.slice(0, tokens.length).forEach((id, place) => (replaced[place] = id === UNK ? given.pieces[place] : null));
  const written = tokens.map((token, i) => (replaced[i] === null ? token : UNK));
  return tokenizer.decode(written, replaced);
}

const largest = <T>(all: T[], by: (one: T) => number): T => all.reduce((best, one) => (by(one) > by(best) ? one : best));

function copyUnknown(
  tokens: number[],
  values: number[],
  attention: number[][] | null,
  source: Encoding,
  words: boolean,
  first: number,
): (string | null)[] {
  const name = (i: number) => (words && source.words[i] !== null ? source.wordTexts[source.words[i]] : source.pieces[i]);
  const places = source.ids.map((_, i) => i);
  const unknown = places.filter((i) => source.ids[i] === UNK);
  const free = tokens.map((_, t) => t).filter((t) => t >= first);
  const holes = free.filter((t) => tokens[t] === UNK);
  const origin = new Map<number, number>();
  const inside = unknown.length ? unknown : places.filter((i) => source.words[i] !== null);
  if (!attention) holes.slice(0, unknown.length).forEach((t, i) => origin.set(t, unknown[i]));
  else if (inside.length) for (const t of holes) origin.set(t, largest(inside, (i) => attention[t][i]));
  if (attention && words) {
    const taken = new Set(origin.values());
    for (const i of unknown.filter((one) => !taken.has(one))) {
      const looks = (row: number[]) => row[i] >= COPY_ATTENTION && row.indexOf(Math.max(...row)) === i;
      const looking = free.filter((t) => tokens[t] !== EOS && !origin.has(t) && looks(attention[t]));
      if (looking.length) origin.set(largest(looking, (t) => -values[t]), i);
    }
  }
  return tokens.map((_, t) => (origin.has(t) ? name(origin.get(t)!) : null));
}

// Text to ids and back: src/regard/text/tokenizer.py and pieces.py, from the same tokenizer files.
import { MARK, normalise, type Normalising } from "./normalise";
import { bpe, EOS, unigram, UNK, type Subwords } from "./subwords";
import { isSpace, joinWords, splitSpaces, UNKNOWN, wordSpans, type Span, type Unit } from "./words";

export interface TokenizerFile {
  config: { kind: "word" | "character" | "bpe" | "unigram"; normalise: Normalising; words: "marks" | "spaces" };
  tokenizer: { model: { vocab: Record<string, number> | [string, number][]; merges?: [string, string][] } };
}

export interface Encoding {
  text: string;
  ids: number[];
  /** With ▁ in front where a space stands before a piece of the kinds bpe and unigram. */
  pieces: string[];
  spans: Span[];
  words: (number | null)[];
  wordTexts: string[];
}

export type Decoded = Pick<Encoding, "text" | "pieces" | "words" | "wordTexts">;

const SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"];
/** PAD, BOS and EOS have no text. */
const silent = (id: number): boolean => id <= EOS && id !== UNK;

export class Tokenizer {
  readonly kind: TokenizerFile["config"]["kind"];
  readonly unit: Unit;
  readonly pieces: string[];
  #normalising: Normalising;
  #listed: Map<string, number>;
  #subwords: Subwords | null = null;
  #cache = new Map<string, ReturnType<Subwords>>();

  constructor(file: TokenizerFile) {
    const { config, tokenizer } = file;
    const { vocab, merges = [] } = tokenizer.model;
    this.kind = config.kind;
    this.unit = config.kind === "character" && config.words === "marks" ? "characters" : config.words;
    this.#normalising = config.normalise;
    const numbered: [string, number][] = Array.isArray(vocab)
      ? vocab.map(([piece], id) => [piece, id])
      : Object.entries(vocab);
    this.pieces = [];
    for (const [piece, id] of numbered) this.pieces[id] = piece;
    this.#listed = new Map(numbered.filter(([, id]) => id > EOS));
    if (config.kind === "bpe") this.#subwords = bpe(new Map(numbered), merges);
    if (Array.isArray(vocab)) this.#subwords = unigram(vocab);
  }

  normalise(text: string): string {
    return normalise(text, this.#normalising);
  }

  encode(text: string, eos = false): Encoding {
    text = this.normalise(text);
    const characters = Array.from(text);
    const words = wordSpans(characters, this.unit);
    const found: Encoding = {
      text,
      ids: [],
      pieces: [],
      spans: [],
      words: [],
      wordTexts: words.map(([start, end]) => characters.slice(start, end).join("")),
    };
    const add = (id: number, start: number, end: number, word: number | null, mark = "") => {
      found.ids.push(id);
      found.pieces.push(mark + characters.slice(start, end).join(""));
      found.spans.push([start, end]);
      found.words.push(word);
    };
    if (this.kind === "character") {
      const inside: (number | null)[] = characters.map(() => null);
      words.forEach(([start, end], word) => inside.fill(word, start, end));
      characters.forEach((one, i) => add(this.#listed.get(one) ?? UNK, i, i + 1, inside[i]));
    } else if (this.#subwords) {
      words.forEach(([start], word) => {
        const opens = !word || words[word - 1][1] !== start;
        let place = start - Number(opens);
        for (const [id, length] of this.#segment((opens ? MARK : "") + found.wordTexts[word])) {
          add(id, Math.max(place, start), place + length, word, opens && place < start ? MARK : "");
          place += length;
        }
      });
    } else {
      words.forEach(([start, end], word) => add(this.#listed.get(found.wordTexts[word]) ?? UNK, start, end, word));
    }
    if (eos) {
      add(EOS, characters.length, characters.length, null);
      found.pieces[found.pieces.length - 1] = SPECIAL[EOS];
    }
    return found;
  }

  #segment(word: string): ReturnType<Subwords> {
    let found = this.#cache.get(word);
    if (!found) {
      found = this.#subwords!(word);
      if (this.#cache.size > 50_000) this.#cache.clear();
      if (word.length < 100) this.#cache.set(word, found);
    }
    return found;
  }

  /** The text of some ids; `unknowns[i]` is written where id i is UNK. */
  decode(ids: number[], unknowns: (string | null)[] = []): Decoded {
    const pieces = ids.map((id, i) => (id === UNK ? unknowns[i] || UNKNOWN : this.pieces[id]));
    return this.kind === "word" ? decodeWords(ids, pieces, this.unit) : decodeWritten(ids, pieces, this.unit);
  }
}

function decodeWords(ids: number[], pieces: string[], unit: Unit): Decoded {
  const wordTexts = pieces.filter((_, i) => !silent(ids[i]));
  let count = 0;
  const words = ids.map((id) => (silent(id) ? null : count++));
  return { text: joinWords(wordTexts, unit === "spaces"), pieces, words, wordTexts };
}

/** Concatenates pieces, with ▁ as a space; a piece belongs to the word of its first character. */
function decodeWritten(ids: number[], pieces: string[], unit: Unit): Decoded {
  const written = pieces.map((piece, i) => {
    const repeated = ids[i] === UNK && ids[i - 1] === UNK && pieces[i - 1] === piece && piece !== UNKNOWN;
    return silent(ids[i]) || repeated ? [] : Array.from(piece.replaceAll(MARK, " "));
  });
  const raw = written.flat();
  const spans = wordSpans(raw, unit);
  const words: (number | null)[] = [];
  let [end, word] = [0, 0];
  written.forEach((text, i) => {
    let spaces = 0;
    while (spaces < text.length && isSpace(text[spaces])) spaces++;
    const start = end + spaces;
    end += text.length;
    if (!text.length && !silent(ids[i])) {
      words.push(words[words.length - 1]);
      return;
    }
    while (word < spans.length && spans[word][1] <= start) word++;
    const inside = word < spans.length && spans[word][0] <= start && (spaces < text.length || pieces[i] === MARK);
    words.push(inside ? word : null);
  });
  const wordTexts = spans.map(([start, stop]) => raw.slice(start, stop).join(""));
  return { text: splitSpaces(raw.join("")).join(" "), pieces, words, wordTexts };
}

// Text to words with their places, and back: the rules of src/regard/text/words.py. Places count code points.

export type Unit = "marks" | "spaces" | "characters";
export type Span = [number, number];

export const UNKNOWN = "⁇";
/** What Python calls white space; `\s` differs in a few control characters. */
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const IS_SPACE = new RegExp(`^[${SPACE}]$`, "u");
const SPACES = new RegExp(`[${SPACE}]+`, "u");
const APOSTROPHES = "'’ʼ";
const CLITICS = new Set(["l", "d", "j", "t", "m", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu"]);
const CLOSING = new Set(".,!?;:)]}…।॥،؛؟۔。、，！？；：）」』”");
const OPENING = new Set("([{¿¡（「『“");

const CHOSEN = new Map<string, string>([
  ...[...APOSTROPHES].map((one): [string, string] => [one, "a"]),
  ...[..."-‐‑·"].map((one): [string, string] => [one, "h"]),
  ...[...".,:"].map((one): [string, string] => [one, "n"]),
  ...["_", UNKNOWN].map((one): [string, string] => [one, "w"]),
  ["\u200b", "s"],
]);
const RANGES: [number, number, string][] = [
  [0x3005, 0x3007, "i"],
  [0x3041, 0x3096, "i"],
  [0x309d, 0x309f, "i"],
  [0x30a1, 0x30fa, "i"],
  [0x30fc, 0x30ff, "i"],
  [0x31f0, 0x31ff, "i"],
  [0x3400, 0x4dbf, "i"],
  [0x4e00, 0x9fff, "i"],
  [0xf900, 0xfaff, "i"],
  [0xff66, 0xff9d, "i"],
  [0x20000, 0x323af, "i"],
  [0x1f1e6, 0x1f1ff, "r"],
  [0x1f3fb, 0x1f3ff, "m"],
];
const CATEGORIES: [RegExp, string][] = [
  [/\p{Nd}/u, "d"],
  [/\p{So}/u, "e"],
  [/[\p{Cc}\p{Cs}]/u, "p"],
  [/\p{M}/u, "m"],
  [/[\p{P}\p{S}]/u, "p"],
  [/\p{Z}/u, "s"],
  [/\p{Cf}/u, "z"],
];

const classes = new Map<string, string>();

function classOf(character: string): string {
  let found = classes.get(character);
  if (found === undefined) classes.set(character, (found = classify(character)));
  return found;
}

function classify(character: string): string {
  const chosen = CHOSEN.get(character);
  if (chosen) return chosen;
  if (IS_SPACE.test(character)) return "s";
  const code = character.codePointAt(0)!;
  for (const [first, last, letter] of RANGES) if (first <= code && code <= last) return letter;
  for (const [category, letter] of CATEGORIES) if (category.test(character)) return letter;
  return "w";
}

const CORE = "(?:[wdmz]|(?<=d)n(?=d))+";
const WORD = new RegExp(`(?<letters>${CORE}(?:[ah]${CORE})*a?)|i[mz]*|em*(?:z+em*)*|rr?|[^s]`, "g");

export const isSpace = (character: string): boolean => IS_SPACE.test(character);
export const splitSpaces = (text: string): string[] => text.split(SPACES).filter((part) => part !== "");

/** The places of the words of a text given as code points. */
export function wordSpans(characters: string[], unit: Unit): Span[] {
  if (unit === "characters") return characters.flatMap((one, i): Span[] => (isSpace(one) ? [] : [[i, i + 1]]));
  const spans: Span[] = [];
  if (unit === "spaces") {
    let start = -1;
    for (let i = 0; i <= characters.length; i++) {
      const inside = i < characters.length && !isSpace(characters[i]);
      if (inside && start < 0) start = i;
      else if (!inside && start >= 0) {
        spans.push([start, i]);
        start = -1;
      }
    }
    return spans;
  }
  const elided = characters.some((one) => APOSTROPHES.includes(one));
  for (const match of characters.map(classOf).join("").matchAll(WORD)) {
    let [start, end] = [match.index, match.index + match[0].length];
    if (elided && match.groups?.letters && end - start > 1) [start, end] = splitClitics(characters, start, end, spans);
    if (start < end) spans.push([start, end]);
  }
  return spans;
}

function splitClitics(characters: string[], start: number, end: number, spans: Span[]): Span {
  for (;;) {
    let place = start;
    while (place < end && !APOSTROPHES.includes(characters[place])) place++;
    if (place >= end || !CLITICS.has(characters.slice(start, place).join("").toLowerCase())) break;
    spans.push([start, place + 1]);
    start = place + 1;
  }
  if (start < end && APOSTROPHES.includes(characters[end - 1])) {
    spans.push([start, end - 1]);
    start = end - 1;
  }
  return [start, end];
}

/** Words as people write them: punctuation touches its word. */
export function joinWords(words: string[], spaced: boolean): string {
  if (spaced) return words.join(" ");
  return words.map((word, i) => (i && !touch(words[i - 1], word) ? ` ${word}` : word)).join("");
}

function touch(left: string, right: string): boolean {
  if (CLOSING.has(right) || OPENING.has(left)) return true;
  const last = [...left].at(-1) ?? "";
  if (last === "" || APOSTROPHES.includes(last)) return CLITICS.has(left.slice(0, -1).toLowerCase());
  return isIdeograph(left) && isIdeograph(right);
}

const isIdeograph = (word: string): boolean => word > "\u3000" && classOf(String.fromCodePoint(word.codePointAt(0)!)) === "i";

// Normalises raw text: the rules of src/regard/text/normalise.py.
import { splitSpaces } from "./words";

export interface Normalising {
  lowercase: boolean;
  apostrophes: boolean;
  drop_final_stop: boolean;
  complete?: boolean;
  form: "NFC" | "NFKC" | "NFD";
}

export const MARK = "▁";
const UNSEEN =
  /[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const FINAL_STOPS = /[.।。 ]+$/u;

export function normalise(text: string, how: Normalising): string {
  if (/[\ud800-\udfff]/u.test(text)) throw new Error("The text has half of a surrogate pair: it was decoded wrongly.");
  text = text.replace(UNSEEN, "").replaceAll("\u200b", " ").replaceAll(MARK, "_").normalize(how.form);
  if (how.apostrophes) text = text.replace(/[’ʼ]/g, "'");
  if (how.lowercase) text = text.toLowerCase().normalize(how.form);
  text = splitSpaces(text.replace(UNSEEN, "")).join(" ");
  if (how.drop_final_stop) text = text.replace(FINAL_STOPS, "") || text;
  return how.complete && text ? complete(text, how.form) : text;
}

function complete(text: string, form: Normalising["form"]): string {
  const capitals = /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
  if (capitals && text.includes(" ")) text = text.toLowerCase();
  text = capitalise(text.replace(/[“”„‟]/g, '"')).normalize(form);
  return /\p{P}$/u.test(text) ? text : `${text}.`;
}

function capitalise(text: string): string {
  const first = String.fromCodePoint(text.codePointAt(0)!);
  const capital = first.toUpperCase();
  return Array.from(capital).length === 1 ? capital + text.slice(first.length) : text;
}

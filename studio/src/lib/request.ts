// The request of a translation, to and from the address of the page.
import type { Document, Hypothesis, TranslateRequest, Translation } from "./types";

export const TEXT_KEYS = ["prefix", "prefix_ids", "edit", "step", "drop", "hypothesis"];
export const FREE_KEYS = ["prefix", "prefix_ids", "beam", "nbest", "temperature", "top_k", "top_p", "seed"];

const number = (query: URLSearchParams, key: string): number | undefined => {
  const found = query.get(key);
  return found === null || found === "" || !Number.isFinite(Number(found)) ? undefined : Number(found);
};

/** null where the address has no text yet. */
export function readRequest(query: URLSearchParams, model: string | null): TranslateRequest | null {
  const text = query.get("text") ?? "";
  if (!text.trim()) return null;
  const request: TranslateRequest = { model: query.get("model") ?? model, text };
  const edit = /^(\d+):([\d.,eE-]+)$/.exec(query.get("edit") ?? "");
  if (edit) request.attention_edit = { step: Number(edit[1]), weights: edit[2].split(",").map(Number) };
  if (query.get("mode") === "forced") {
    request.mode = "forced";
    request.target = query.get("target") ?? "";
    return request.target.trim() ? request : null;
  }
  const ids = query.get("prefix_ids");
  if (ids && /^\d+(,\d+)*$/.test(ids)) request.prefix_ids = ids.split(",").map(Number);
  else if (query.get("prefix")) request.prefix = query.get("prefix");
  request.temperature = number(query, "temperature");
  if (request.temperature) {
    request.top_k = number(query, "top_k");
    request.top_p = number(query, "top_p");
    request.seed = number(query, "seed");
  } else {
    request.beam = edit ? 1 : number(query, "beam");
  }
  request.nbest = edit ? undefined : number(query, "nbest");
  return request;
}

export const writeEdit = (step: number, weights: number[]): string =>
  `${step}:${weights.map((weight) => String(Number(weight.toFixed(4)))).join(",")}`;

export function captionOf(translation: Translation, request: TranslateRequest): string {
  const how: string[] = [translation.mode];
  if (request.beam && request.beam > 1) how.push(`beam ${request.beam}`);
  if (request.temperature) how.push(`temperature ${request.temperature}`);
  if (request.attention_edit) how.push(`row ${request.attention_edit.step + 1} edited`);
  if (request.prefix || request.prefix_ids) how.push("prefix forced");
  return `${translation.model} · ${how.join(", ")}`;
}

export function toDocument(translation: Translation, hypothesis: Hypothesis, caption: string | null): Document {
  return {
    name: translation.model,
    source: translation.source,
    target: hypothesis.target,
    attention: hypothesis.attention,
    word_attention: hypothesis.word_attention,
    gold: hypothesis === translation.hypotheses[0] ? translation.gold : null,
    caption,
    no_attention: translation.no_attention,
    steps: hypothesis.steps,
  };
}

export const forcedPieces = (count: number): string =>
  count === 1 ? "The first piece is forced." : `The first ${count} pieces are forced.`;

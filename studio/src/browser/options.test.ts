import { expect, test } from "vitest";
import type { ApiError } from "../lib/api";
import { check, LIMITS, type Kind } from "./options";

function refusal(kind: Kind, request: unknown): ApiError | null {
  try {
    check(kind, request);
  } catch (error) {
    return error as ApiError;
  }
  return null;
}

const many = { model: "en-fr", texts: ["a"] };
const long = "x".repeat(LIMITS.characters + 1);

test.each<[object, string, string]>([
  [{ beam: 1e9 }, "beam", "beam: 1000000000 given, expected a whole number from 1 to 16"],
  [{ beam: 0 }, "beam", "beam: 0 given, expected a whole number from 1 to 16"],
  [{ beam: 2.5 }, "beam", "beam: 2.5 given, expected a whole number from 1 to 16"],
  [{ beam: NaN }, "beam", "beam: NaN given, expected a whole number from 1 to 16"],
  [{ beam: "4" }, "beam", "beam: '4' given, expected a whole number from 1 to 16"],
  [{ beam: 10n ** 100n }, "beam", `beam: 1${"0".repeat(78)}… given, expected a whole number from 1 to 16`],
  [{ beam: [4] }, "beam", "beam: an array given, expected a whole number from 1 to 16"],
  [{ nbest: 17 }, "nbest", "nbest: 17 given, expected a whole number from 1 to 16"],
  [{ beam: 2, nbest: 9 }, "nbest", "nbest: 9 is more than beam 2 can find; raise beam to 9"],
  [{ temperature: -1 }, "temperature", "temperature: -1 given, expected a number from 0.001 to 100"],
  [{ temperature: 0 }, "temperature", "temperature: 0 given, expected a number from 0.001 to 100"],
  [{ temperature: 1, beam: 4 }, "temperature", "temperature: it means sampling and beam 4 means beam search; leave one of them out"],
  [{ top_k: 5 }, "top_k", "top_k: it needs a temperature; 1.0 leaves the model's distribution as it is"],
  [{ temperature: 1, top_k: 0 }, "top_k", "top_k: 0 given, expected a whole number from 1 to 1,000,000"],
  [{ temperature: 1, top_p: 0 }, "top_p", "top_p: 0 given, expected a number above 0, at most 1"],
  [{ seed: -1 }, "seed", "seed: -1 given, expected a whole number from 0 to 9,007,199,254,740,992"],
  [{ length_penalty: 11 }, "length_penalty", "length_penalty: 11 given, expected a number from 0 to 10"],
  [{ top: 51 }, "top", "top: 51 given, expected a whole number from 0 to 50"],
  [{ attention: "no" }, "attention", "attention: 'no' given, expected true or false"],
  [{ model: 5 }, "model", "model: 5 given, expected a string of at most 255 characters"],
  [{ mode: "force" }, "mode", "mode: 'force' given, expected 'free' or 'forced'"],
  [{ mode: "forced" }, "target", "target: mode forced needs the target to force"],
  [{ mode: "forced", target: "b", beam: 1 }, "beam", "beam: mode forced has no free pieces: leave it out"],
  [{ mode: "forced", target: "b", nbest: 2 }, "nbest", "nbest: mode forced has no free pieces: leave it out"],
  [{ target: "b" }, "target", "target: it needs mode forced; in free mode a prefix begins the translation"],
  [{ prefix: "b", prefix_ids: [4] }, "prefix_ids", "prefix_ids: give prefix or prefix_ids, not both"],
  [{ prefix_ids: [4, -1] }, "prefix_ids[1]", "prefix_ids[1]: -1 given, expected a whole number from 0 to 1,000,000"],
  [{ attention_edit: { step: 0 } }, "attention_edit.weights", "attention_edit.weights: required, but not given"],
  [{ attention_edit: { step: 0, weights: [] } }, "attention_edit.weights", "attention_edit.weights: 0 entries given, expected 1 to 100,000"],
  [{ attention_edit: { step: 0, weights: [-1] } }, "attention_edit.weights[0]", "attention_edit.weights[0]: -1 given, expected a number from 0 to 1"],
  [{ attention_edit: { step: 0, weights: [0.7, 0.7] } }, "attention_edit.weights", "attention_edit.weights: they sum to 1.4: expected numbers of 0 or more that sum to at most 1"],
  [{ attention_edit: { step: 0, weights: [1] }, beam: 2 }, "attention_edit", "attention_edit: it edits a single hypothesis: leave beam and nbest out, or set them to 1"],
  [{ attention_edit: { step: 0, wieghts: [1] } }, "wieghts", "attention_edit has no option 'wieghts': did you mean 'weights'?"],
])("translate refuses %o", (request, field, message) => {
  const found = refusal("translate", { text: "a", ...request });
  expect([found?.field, found?.message]).toEqual([field, message]);
});

test.each<[Kind, unknown, string]>([
  ["translate", undefined, "translate: undefined given, expected an object of options"],
  ["translate", "a", "translate: 'a' given, expected an object of options"],
  ["translate", {}, "text: required, but not given"],
  ["translate", { text: null }, "text: required, but not given"],
  ["translate", { text: 5 }, "text: 5 given, expected a string"],
  ["translate", { text: long }, "text: 5,001 characters given, at most 5,000 accepted"],
  ["translate", { text: "caf\ud83c" }, "text: half of a surrogate pair is not a character"],
  ["translate", { txt: "a" }, "translate has no option 'txt': did you mean 'text'?"],
  ["translate", { text: "a", beamSize: 4 }, "translate has no option 'beamSize': did you mean 'beam'?"],
  ["translate", { text: "a", topK: 4 }, "translate has no option 'topK': did you mean 'top_k'?"],
  ["translate", { text: "a", toString: 4 }, "translate has no option 'toString': valid options are model, text, mode, target, prefix, prefix_ids, beam, nbest, temperature, top_k, top_p, seed, length_penalty, attention_edit, top, layer, attention"],
  ["occlusion", { text: "a", beam: 4 }, "occlusion has no option 'beam': valid options are model, text, target"],
  ["step", { text: "a", step: -1 }, "step: -1 given, expected a whole number from 0 to 100,000"],
  ["step", { text: "a", hypothesis: 16 }, "hypothesis: 16 given, expected a whole number from 0 to 15"],
  ["many", { texts: ["a"] }, "model: required, but not given"],
  ["many", { ...many, texts: "a" }, "texts: 'a' given, expected an array"],
  ["many", { ...many, texts: ["a", 5] }, "texts[1]: 5 given, expected a string"],
  ["many", { ...many, texts: Array(1) }, "texts[0]: undefined given, expected a string"],
  ["many", { ...many, texts: ["a", long] }, "texts[1]: 5,001 characters given, at most 5,000 accepted"],
  ["many", { ...many, beam: 0 }, "beam: 0 given, expected a whole number from 1 to 16"],
  ["many", { ...many, together: 65 }, "together: 65 given, expected a whole number from 1 to 64"],
  ["tokens", { ...many, target: "yes" }, "target: 'yes' given, expected true or false"],
])("%s refuses %o", (kind, request, message) => {
  expect(refusal(kind, request)?.message).toBe(message);
});

test("what the limits allow is accepted, and null means left out", () => {
  const accepted: [Kind, object][] = [
    ["translate", { text: "" }],
    ["translate", { text: long.slice(1), beam: 16, nbest: 16, length_penalty: 10, top: 50, layer: 0, attention: false }],
    ["translate", { text: "a", nbest: 9 }],
    ["translate", { text: "a", temperature: 0.001, top_k: 1, top_p: 1, seed: 2 ** 53, nbest: 16 }],
    ["translate", { text: "\u{1f1eb}", mode: "forced", target: "b", prefix: null, beam: undefined, nbest: 1 }],
    ["translate", { text: "a", prefix_ids: [4, 0], attention_edit: { step: 0, weights: [0.5, 0.5005] }, beam: 1 }],
    ["step", { text: "a", step: 100_000, hypothesis: 15, top: 1 }],
    ["occlusion", { text: "a", target: "b" }],
    ["many", { ...many, texts: [], beam: null, together: 64 }],
    ["tokens", { ...many, texts: ["", "a"], target: true }],
  ];
  for (const [kind, request] of accepted) expect(refusal(kind, request), JSON.stringify(request)).toBeNull();
});

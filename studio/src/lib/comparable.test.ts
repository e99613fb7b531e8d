import { expect, test } from "vitest";
import { comparable } from "./comparable";
import type { ModelAbout } from "./types";

const model = (id: string, target: string, words: number) =>
  ({ id, source_language: "en", target_language: target, source_vocabulary: words, target_vocabulary: words }) as ModelAbout;
const models = [
  model("en-fr", "fr", 8000),
  model("demo-en-fr", "fr", 300),
  model("demo-en-fr-transformer", "fr", 300),
  model("demo-en-fr-vanilla", "fr", 300),
  model("demo-en-hi", "hi", 300),
];
const demos = ["demo-en-fr", "demo-en-fr-transformer", "demo-en-fr-vanilla"];

test("a comparison starts with models of equal vocabularies", () => {
  expect(comparable(models, "demo-en-fr", "en-fr")).toEqual(demos);
  expect(comparable(models, "", "en-fr")).toEqual(demos);
  expect(comparable(models, "demo-en-fr-vanilla", "en-fr")).toEqual([demos[2], demos[0], demos[1]]);
});

test("a choice without such partners is kept", () => {
  expect(comparable(models, "en-fr", "en-fr")).toEqual(["en-fr", "demo-en-fr"]);
  expect(comparable(models, "demo-en-hi", "en-fr")).toEqual(["demo-en-hi"]);
  expect(comparable(models.slice(4), "", "demo-en-hi")).toEqual(["demo-en-hi"]);
  expect(comparable([], "", null)).toEqual([]);
});

// The models that a comparison starts with.
import type { ModelAbout } from "./types";

const sameLanguages = (a: ModelAbout) => (b: ModelAbout) =>
  a.source_language === b.source_language && a.target_language === b.target_language;
const sameWords = (a: ModelAbout) => (b: ModelAbout) =>
  sameLanguages(a)(b) && a.source_vocabulary === b.source_vocabulary && a.target_vocabulary === b.target_vocabulary;

/**
 * Up to three models with the languages and the vocabulary sizes of the chosen one: their maps differ by mechanism alone.
 * Without a choice, the first model that has such partners is taken; a choice without partners gets one of its languages.
 */
export function comparable(models: ModelAbout[], chosen: string, byDefault: string | null): string[] {
  const find = (id: string | null) => models.find((model) => model.id === id);
  const given = find(chosen || byDefault);
  const first = chosen ? given : [given, ...models].find((one) => one && models.filter(sameWords(one)).length > 1) ?? given;
  if (!first) return [];
  const others = models.filter((model) => model !== first);
  const equal = others.filter(sameWords(first));
  const alike = equal.length ? equal.slice(0, 2) : others.filter(sameLanguages(first)).slice(0, 1);
  return [first, ...alike].map((model) => model.id);
}

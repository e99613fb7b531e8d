// Sentences to try with a model.
import type { ModelAbout } from "./types";

/** For models of everyday text, which bring none. */
const EVERYDAY: Record<string, string[]> = {
  en: ["The black cat sat on the mat.", "I have never been to Paris.", "Where is the nearest station?", "She gave him the book that he wanted."],
  fr: ["Le chat noir est assis sur le tapis.", "Je ne suis jamais allé à Paris.", "Où est la gare la plus proche ?", "Elle lui a donné le livre qu'il voulait."],
};

export const examplesOf = (model: ModelAbout | undefined): string[] =>
  model?.examples.length ? model.examples : (EVERYDAY[model?.source_language ?? ""] ?? []);

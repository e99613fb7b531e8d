// The stages of one decoder step: six with attention, two without.

export type Stage = "query" | "scores" | "mask" | "softmax" | "context" | "words" | "state";

export interface StageAbout {
  name: Stage;
  title: string;
  about: string;
}

export const STAGES: StageAbout[] = [
  { name: "query", title: "Query", about: "The query is a state of the decoder: it encodes what the next word needs." },
  { name: "scores", title: "Scores", about: "Each source position gets a number: how well it matches the query." },
  { name: "mask", title: "Mask", about: "Positions that must not be read (padding, outside a local window) are excluded." },
  { name: "softmax", title: "Softmax", about: "Scores become weights that sum to 1: where the model looks." },
  { name: "context", title: "Context", about: "The weighted sum of the source states, by these weights." },
  { name: "words", title: "Top words", about: "State and context give every word a probability; one is written." },
];

export const WITHOUT_ATTENTION: StageAbout[] = [
  { name: "state", title: "State", about: "The state is updated with the last written piece. It knows the source only through the vector c, the same at every step." },
  { name: "words", title: "Top words", about: "State and c give every word a probability; one is written." },
];

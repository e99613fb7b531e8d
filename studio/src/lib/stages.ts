// The six stages of one decoder step.

export type Stage = "query" | "scores" | "mask" | "softmax" | "context" | "words";

export const STAGES: { name: Stage; title: string; about: string }[] = [
  { name: "query", title: "Query", about: "The decoder’s state asks: what do I need now?" },
  { name: "scores", title: "Scores", about: "Each source position answers with a number: how well it fits the query." },
  { name: "mask", title: "Mask", about: "Positions that may not be read (padding, outside a window) are taken out." },
  { name: "softmax", title: "Softmax", about: "Scores become weights: where the model looks, in shares of 1." },
  { name: "context", title: "Context", about: "The weighted sum of the source states: what the model sees." },
  { name: "words", title: "Top words", about: "State and context give a probability to every word; one is written." },
];

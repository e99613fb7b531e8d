// The JSON of /api/v1 for single views: steps, occlusion, comparisons, beam trees, triage, neighbours.
import type { Candidate, Link, Piece, Side, Translation } from "./types";

export interface Window {
  kind: "local-m" | "local-p";
  center: number;
  reach: number;
  gaussian: number[] | null;
}

export interface StepLayer {
  query: number[];
  scores: (number | null)[][];
  mask: boolean[][];
  weights: number[][];
  window: Window | null;
  context: number[];
}

export interface StepAnswer {
  model: string;
  source: Side;
  target: Side;
  step: number;
  steps: number;
  query_name: string;
  reads: Piece;
  writes: Piece;
  probability: number;
  forced: boolean;
  edited: boolean;
  layers: StepLayer[];
  no_attention: string | null;
  entropy: number | null;
  top: Candidate[];
  warnings: string[];
}

export interface Occlusion {
  model: string;
  source: Side;
  target: Side;
  forced: boolean;
  log_probabilities: number[];
  rows: { word: number; log_probabilities: number[]; changes: number[] }[];
  warnings: string[];
}

export interface Compared {
  model: string;
  translation: Translation | null;
  problem: string | null;
  log_probability: number | null;
  mean_log_probability: number | null;
  attention_entropy: number | null;
  aer: number | null;
  parameters: number;
  milliseconds: number | null;
}

export interface Comparison {
  mode: "free" | "forced";
  results: Compared[];
  differences: { first: string; second: string; possible: boolean; reason: string | null }[];
  gold: Link[] | null;
}

export interface BeamNode {
  id: number;
  parent: number | null;
  depth: number;
  piece: Piece | null;
  probability: number | null;
  score: number;
  normalised_score: number;
  fate: "kept" | "finished" | "cut" | "pruned" | "hopeless";
  rank: number | null;
  prefix_ids: number[];
  text: string;
  best: number | null;
}

export interface BeamTree {
  id: string;
  model: string;
  beam: number;
  length_penalty: number;
  source: Side;
  nodes: BeamNode[];
}

export interface TriageRow {
  number: number;
  source: string;
  text: string;
  confidence: number;
  mean_log_probability: number;
  attention_entropy: number | null;
  coverage: number | null;
  copied: number;
  repeated: number;
  finished: boolean;
  warnings: string[];
}

export interface Triage {
  model: string;
  forced: boolean;
  rows: TriageRow[];
}

export interface Neighbour {
  source: string;
  target: string;
  step: number;
  piece: string;
  target_word: number | null;
  similarity: number;
}

export interface Neighbours {
  model: string;
  kind: "query" | "context";
  piece: string;
  sample: number;
  neighbours: Neighbour[];
}

// The JSON of /api/v1, as docs/reference/http-api.md describes it.

export type Special = "EOS" | "BOS" | "UNK" | "PAD";
export type Direction = "ltr" | "rtl";

export interface Piece {
  text: string;
  id: number;
  span: [number, number] | null;
  word: number | null;
  special: Special | null;
}

export interface Word {
  text: string;
  span: [number, number];
}

export interface Side {
  text: string;
  language: string | null;
  direction: Direction;
  pieces: Piece[];
  words: Word[];
}

export interface Candidate {
  id: number;
  text: string;
  special: Special | null;
  probability: number;
}

export interface StepSummary {
  probability: number;
  log_probability: number;
  forced: boolean;
  entropy: number | null;
  attention_entropy: number | null;
  top: Candidate[];
}

export interface Attention {
  shape: [number, number, number, number];
  unit: "piece";
  layers: number[];
  data: number[][][][];
}

export interface WordAttention {
  shape: [number, number];
  unit: "word";
  data: number[][];
  elsewhere: number[];
  missing: number[];
}

export type Link = [number, number];

export interface Hypothesis {
  target: Side;
  score: number;
  normalised_score: number;
  finished: boolean;
  forced: boolean;
  steps: StepSummary[];
  attention: Attention | null;
  word_attention: WordAttention | null;
  alignment: Link[] | null;
}

export interface Translation {
  model: string;
  mode: "free" | "forced";
  source: Side;
  hypotheses: Hypothesis[];
  no_attention: string | null;
  gold: Link[] | null;
  beam_id: string | null;
  timings: { queued: number; decoding: number; total: number; batch: number };
  warnings: string[];
}

/** One alignment to look at: what a translation, an attention file and a self-contained page have in common. */
export interface Document {
  name: string;
  source: Side;
  target: Side;
  attention: Attention | null;
  word_attention: WordAttention | null;
  gold: Link[] | null;
  caption: string | null;
  no_attention?: string | null;
  facts?: [string, string][];
  steps?: StepSummary[];
  /** Gold links that are possible, not sure. */
  possible?: Link[] | null;
  /** Links of unit "piece" instead of "word". */
  links_unit?: "word" | "piece";
}

export interface ModelAbout {
  id: string;
  origin: "package" | "run" | "bundle";
  description: string;
  source_language: string | null;
  target_language: string | null;
  architecture: string;
  about: string;
  score: string;
  window: string;
  reach: number | null;
  placement: string;
  layers: number;
  heads: number;
  has_attention: boolean;
  can_step: boolean;
  parameters: number;
  longest_source: number | null;
  beam: number;
  examples: string[];
  score_line: string | null;
}

export interface Limits {
  characters: number;
  beam: number;
  nbest: number;
  top: number;
  models: number;
  lines: number;
  body_bytes: number;
  queue: number;
  seconds: number;
}

export interface Models {
  models: ModelAbout[];
  default: string | null;
  limits: Limits;
  attention_files: number;
}

export interface TranslateRequest {
  model?: string | null;
  text: string;
  mode?: "free" | "forced";
  target?: string | null;
  prefix?: string | null;
  prefix_ids?: number[] | null;
  beam?: number | null;
  nbest?: number;
  length_penalty?: number | null;
  temperature?: number | null;
  top_k?: number | null;
  top_p?: number | null;
  seed?: number;
  attention_edit?: { step: number; weights: number[] } | null;
  top?: number;
  layer?: number | null;
}

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

export type Metric = "chrf" | "bleu" | "exact_match";

export interface QualitySentence {
  number: number;
  source: string;
  reference: string;
  text: string;
  right: boolean;
  chrf: number;
}

export interface QualityBin {
  shortest: number;
  longest: number | null;
  sentences: number;
  score: number | null;
  low: number | null;
  high: number | null;
  examples: QualitySentence[];
}

export interface Quality {
  model: string;
  state: "computing" | "ready";
  done: number;
  of: number;
  metric: Metric;
  score: number | null;
  low: number | null;
  high: number | null;
  bins: QualityBin[];
  notes: string[];
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

export interface Run {
  id: string;
  description: string;
  state: "preparing" | "running" | "finished" | "stopped" | "failed";
  ours: boolean;
  step: number;
  total_steps: number | null;
  metric: string | null;
  best_score: number | null;
  best_step: number | null;
  seconds: number | null;
  model: string | null;
  problem: string | null;
}

export interface Runs {
  runs: Run[];
  can_train: boolean;
}

export interface Replay {
  run: string;
  sentences: { source: Side; target: Side }[];
  snapshots: {
    step: number;
    score: number | null;
    sentences: { data: number[][] | null; log_probability: number; text: string }[];
  }[];
  reason: string | null;
}

export interface Exercise {
  number: number;
  name: string;
  title: string;
  needs: string;
  points: number;
  passed: string | null;
  attempts: number;
  hints_seen: number;
  readme: string;
}

export interface Course {
  started: boolean;
  current: string;
  points: number;
  of: number;
  exercises: Exercise[];
}

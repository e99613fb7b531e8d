// The JSON of /api/v1, as docs/reference/http-api.md describes it: models, translations, what an alignment view draws.

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
  /** "English → French", for a person. */
  direction: string | null;
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
  source_vocabulary: number;
  target_vocabulary: number;
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

// The JSON of /api/v1 about runs, scores by length and the course.
import type { Side } from "./types";

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
    sentences: { data: number[][] | null; elsewhere: number[] | null; log_probability: number; text: string }[];
  }[];
  reason: string | null;
}

type Rows = (number | null)[][];

/** An array of the learner's answer beside the right one. */
export interface AnswerMap {
  name: string;
  yours: Rows;
  wanted: Rows;
}

export interface Report {
  when: string;
  status: "passed" | "unstable" | "failed" | "unfinished" | "broken" | "stopped" | "missing";
  headline: string;
  check: string;
  details: string[];
  advice: string;
  notes: string[];
  printed: string;
  line: number;
  answer: AnswerMap | null;
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
  report: Report | null;
}

export interface Course {
  started: boolean;
  current: string;
  points: number;
  of: number;
  exercises: Exercise[];
}

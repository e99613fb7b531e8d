// The score of a validation as people read it.

/** "exact match 93.0 %", "bleu 31.20"; empty without a score. */
export function scoreText(metric: string | null, score: number | null): string {
  if (score === null) return "";
  if (metric === "exact_match") return `exact match ${(100 * score).toFixed(1)} %`;
  return `${{ bleu: "BLEU", chrf: "chrF", loss: "validation loss" }[metric ?? ""] ?? "score"} ${score.toFixed(2)}`;
}

// The data of a line chart.

export interface Point {
  x: number;
  y: number;
  /** Ends of an interval, drawn as a band. */
  low?: number | null;
  high?: number | null;
  /** Another label for x, such as "6–10". */
  name?: string;
}

export interface Series {
  name: string;
  points: Point[];
}

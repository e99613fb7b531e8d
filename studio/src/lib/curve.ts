// A smooth line from left to right.

export function link([x, y]: [number, number], [toX, toY]: [number, number]): string {
  const middle = (x + toX) / 2;
  return `M${x},${y}C${middle},${y} ${middle},${toY} ${toX},${toY}`;
}

/** Straight lines through the points; a null makes a gap. */
export function through(points: ([number, number] | null)[]): string {
  return points.map((point, i) => point && `${i && points[i - 1] ? "L" : "M"}${point[0]},${point[1]}`).join("");
}

/** The area between two lines, without gaps. */
export function between(upper: [number, number][], lower: [number, number][]): string {
  return upper.length ? `M${[...upper, ...lower.toReversed()].join("L")}Z` : "";
}

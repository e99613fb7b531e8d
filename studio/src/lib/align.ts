// Which words of two texts correspond: edit distance, so that one changed word is a pair and not two gaps.

export type Pair = [number | null, number | null];

export function pairs(first: string[], second: string[]): Pair[] {
  const cost = first.map(() => new Array<number>(second.length + 1).fill(0));
  cost.push(new Array<number>(second.length + 1).fill(0));
  for (let i = first.length; i >= 0; i--) {
    for (let j = second.length; j >= 0; j--) {
      if (i === first.length || j === second.length) cost[i][j] = first.length - i + second.length - j;
      else {
        const changed = first[i] === second[j] ? 0 : 1.5;
        cost[i][j] = Math.min(cost[i + 1][j + 1] + changed, cost[i + 1][j] + 1, cost[i][j + 1] + 1);
      }
    }
  }
  const found: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < first.length || j < second.length) {
    const here = cost[i][j];
    if (i < first.length && j < second.length && here === cost[i + 1][j + 1] + (first[i] === second[j] ? 0 : 1.5)) {
      found.push([i++, j++]);
    } else if (i < first.length && here === cost[i + 1][j] + 1) found.push([i++, null]);
    else found.push([null, j++]);
  }
  return found;
}

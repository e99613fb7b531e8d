// Draws a token with a temperature, from the top k or the top p; the same seed gives the same draws in this page.

export interface Sampling {
  temperature: number;
  top_k: number | null;
  top_p: number | null;
  seed: number;
}

/** mulberry32: 32 bits of state are enough to draw words. */
function random(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function sampler({ temperature, top_k, top_p, seed }: Sampling): (logits: Float32Array, banned: Set<number>) => number {
  const draw = random(seed);
  return (logits, banned) => {
    let ids = Array.from(logits.keys()).filter((id) => !banned.has(id));
    ids.sort((a, b) => logits[b] - logits[a] || a - b);
    if (top_k !== null) ids = ids.slice(0, top_k);
    const shares = ids.map((id) => Math.exp((logits[id] - logits[ids[0]]) / temperature));
    const total = shares.reduce((sum, one) => sum + one, 0);
    let [count, sum] = [0, 0];
    while (count < ids.length && (top_p === null || sum < top_p * total)) sum += shares[count++];
    let left = draw() * sum;
    let place = 0;
    while (place < count - 1 && (left -= shares[place]) >= 0) place++;
    return ids[place];
  };
}

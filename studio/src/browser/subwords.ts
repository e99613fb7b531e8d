// Segments one marked word into pieces as the `tokenizers` library does: BPE merges, or the best path of a unigram model.

export const [PAD, UNK, BOS, EOS] = [0, 1, 2, 3];

/** (id, code points) of each piece of a word. */
export type Segments = [id: number, length: number][];
export type Subwords = (word: string) => Segments;

/** Text never becomes a special id: a word spelt </s> is unknown. */
const safe = (id: number | undefined): number => (id !== undefined && id > EOS ? id : UNK);

export function bpe(vocabulary: Map<string, number>, merges: [string, string][]): Subwords {
  const size = vocabulary.size;
  const ranks = new Map<number, [rank: number, id: number]>();
  merges.forEach(([left, right], rank) => {
    const key = vocabulary.get(left)! * size + vocabulary.get(right)!;
    ranks.set(key, [rank, vocabulary.get(left + right)!]);
  });
  return (word) => {
    const ids: number[] = [];
    const lengths: number[] = [];
    for (const character of word) {
      ids.push(vocabulary.get(character) ?? UNK);
      lengths.push(1);
    }
    for (;;) {
      let [best, place] = [Infinity, -1];
      for (let i = 0; i + 1 < ids.length; i++) {
        const found = ranks.get(ids[i] * size + ids[i + 1]);
        if (found && found[0] < best) [best, place] = [found[0], i];
      }
      if (place < 0) break;
      ids.splice(place, 2, ranks.get(ids[place] * size + ids[place + 1])![1]);
      lengths.splice(place, 2, lengths[place] + lengths[place + 1]);
    }
    return ids.map((id, i) => [safe(id), lengths[i]]);
  };
}

const UNKNOWN_PENALTY = 10;

interface Node {
  score: number;
  start: number;
  id: number;
}

export function unigram(pieces: [string, number][]): Subwords {
  const vocabulary = new Map(pieces.map(([piece], id) => [piece, id]));
  const longest = Math.max(...pieces.map(([piece]) => Array.from(piece).length));
  const unknown = Math.min(...pieces.map(([, score]) => score)) - UNKNOWN_PENALTY;
  return (word) => {
    const characters = Array.from(word);
    const ends: (Node | null)[] = Array.from({ length: characters.length + 1 }, () => null);
    const offer = (end: number, node: Node) => {
      if (ends[end] === null || node.score > ends[end]!.score) ends[end] = node;
    };
    for (let start = 0; start < characters.length; start++) {
      const before = start ? ends[start]!.score : 0;
      let single = false;
      let piece = "";
      for (let end = start + 1; end <= Math.min(characters.length, start + longest); end++) {
        piece += characters[end - 1];
        const id = vocabulary.get(piece);
        if (id === undefined) continue;
        offer(end, { score: before + pieces[id][1], start, id });
        single ||= end === start + 1;
      }
      if (!single) offer(start + 1, { score: before + unknown, start, id: UNK });
    }
    const found: Segments = [];
    let fused = false; // neighbouring unknown characters are one piece
    for (let end = characters.length; end > 0; end = ends[end]!.start) {
      const { start, id } = ends[end]!;
      if (id === UNK && fused) found[0][1] += end - start;
      else found.unshift([id, end - start]);
      fused = id === UNK;
    }
    return found.map(([id, length]) => [safe(id), length]);
  };
}

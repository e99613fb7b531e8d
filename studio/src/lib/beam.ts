// Where the nodes of a beam tree stand. The best translation is a straight line from the root.
import type { Token } from "./matrix";
import { measure } from "./measure";
import type { Piece, Side } from "./types";
import type { BeamNode } from "./view_types";

export const ROW = 30; // pixels
const START = 44; // width of the root
const GAP = 64; // between two columns

export interface Placed {
  node: BeamNode;
  token: Token | null;
  x: number;
  y: number;
  parent: Placed | null;
  children: Placed[];
}

const beamToken = (side: Side, piece: Piece): Token => ({
  text: piece.special ? "" : piece.text || "␣",
  special: piece.special,
  language: side.language,
  direction: side.direction,
  part: null,
});

/** Room for the word, its probability and the padding. */
export const wide = (token: Token | null): number => (token ? measure(token) + 44 : START);

/** For each node above a final translation, the negative rank of the best one. */
function bestBelow(nodes: BeamNode[]): Map<number, number> {
  const found = new Map<number, number>();
  const all = new Map(nodes.map((node) => [node.id, node]));
  for (const end of nodes.filter((node) => node.best !== null)) {
    for (let one: BeamNode | undefined = end; one; one = one.parent === null ? undefined : all.get(one.parent)) {
      found.set(one.id, Math.max(found.get(one.id) ?? -Infinity, -end.best!));
    }
  }
  return found;
}

/** The first child stands in the row of its parent; the other children take the first free rows below. */
export function layOut(nodes: BeamNode[], side: Side | null): Placed[] {
  if (!nodes.length) return [];
  const children = new Map<number | null, BeamNode[]>();
  for (const node of nodes) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  const ranks = bestBelow(nodes);
  const rank = (node: BeamNode) => ranks.get(node.id) ?? -Infinity;
  for (const below of children.values()) below.sort((a, b) => rank(b) - rank(a) || b.score - a.score);
  const tokens = new Map(nodes.map((node) => [node.id, node.piece && side ? beamToken(side, node.piece) : null]));
  const widths: number[] = [];
  for (const node of nodes) widths[node.depth] = Math.max(widths[node.depth] ?? 0, wide(tokens.get(node.id) ?? null));
  const starts = widths.map((_, depth) => widths.slice(0, depth).reduce((sum, width) => sum + width + GAP, 8));
  const made: Placed[] = [];
  const free: number[] = []; // the first free row of each depth
  const lay = (first: BeamNode, above: Placed | null, least: number): void => {
    const chain: BeamNode[] = [];
    for (let one: BeamNode | undefined = first; one; one = children.get(one.id)?.[0]) chain.push(one);
    const row = Math.max(least, ...chain.map((node) => free[node.depth] ?? 0));
    const line: Placed[] = [];
    for (const node of chain) {
      const parent: Placed | null = line.at(-1) ?? above;
      const [x, y] = [starts[node.depth], (row + 0.5) * ROW + 4];
      const entry: Placed = { node, token: tokens.get(node.id) ?? null, x, y, parent, children: [] };
      parent?.children.push(entry);
      line.push(entry);
      free[node.depth] = row + 1;
    }
    made.push(...line);
    for (const entry of line.reverse()) for (const child of children.get(entry.node.id)?.slice(1) ?? []) lay(child, entry, row + 1);
  };
  lay(nodes[0], null, 0);
  return made;
}

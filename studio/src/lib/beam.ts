// Tokens of a beam tree: pieces without a text around them.
import type { Token } from "./matrix";
import { measure } from "./measure";
import type { Piece, Side } from "./types";

export type { Token };

export const beamToken = (side: Side, piece: Piece): Token => ({
  text: piece.special ? "" : piece.text || "␣",
  special: piece.special,
  language: side.language,
  direction: side.direction,
  part: null,
});

/** Room for the word, its probability and the padding. */
export const textWidthOf = (token: Token): number => measure(token) + 44;

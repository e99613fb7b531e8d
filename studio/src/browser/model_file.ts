// A model's file: settings, graphs, tokenizers, and matrices as int8 with a scale for each row.
import type { ModelAbout } from "../lib/types";
import type { SearchConfig } from "./search";
import type { TokenizerFile } from "./tokenizer";

interface StoredTensor {
  /** Where it lies in the data that the graphs refer to, and in this file. */
  to: number;
  at: number;
  /** Of an int8 matrix: integers, then a float32 for each row. Else float32 numbers. */
  rows?: number;
  columns?: number;
  numbers?: number;
}

export interface ModelSettings {
  about: ModelAbout;
  search: SearchConfig;
  source_eos: boolean;
  longest_source: number;
  most_pieces: number | null;
  head: [number, number] | null;
  shift: number;
  shared: string[];
  target_vocabulary: number;
}

export interface ModelFile extends ModelSettings {
  encoder: Uint8Array;
  decoder: Uint8Array;
  source: TokenizerFile;
  target: TokenizerFile;
  weights: Uint8Array;
}

interface Header {
  settings: ModelSettings;
  parts: Record<"encoder" | "decoder" | "source" | "target", [start: number, end: number]>;
  tensors: StoredTensor[];
  weight_bytes: number;
}

export function readModel(bytes: Uint8Array): ModelFile {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = 4 + view.getUint32(0, true);
  const text = (part: Uint8Array) => JSON.parse(new TextDecoder().decode(part));
  const header: Header = text(bytes.subarray(4, start));
  const data = bytes.subarray(start);
  const part = (name: keyof Header["parts"]) => data.subarray(...header.parts[name]);
  return {
    ...header.settings,
    encoder: part("encoder"),
    decoder: part("decoder"),
    source: text(part("source")),
    target: text(part("target")),
    weights: unpack(header, data),
  };
}

/** float32 of everything, where the graphs expect it. */
function unpack({ tensors, weight_bytes }: Header, data: Uint8Array): Uint8Array {
  const weights = new Uint8Array(weight_bytes);
  for (const { to, at, rows, columns, numbers } of tensors) {
    if (numbers !== undefined) {
      weights.set(data.subarray(at, at + 4 * numbers), to);
      continue;
    }
    const [count, width] = [rows!, columns!];
    const integers = new Int8Array(data.buffer, data.byteOffset + at, count * width);
    const scales = new Float32Array(data.slice(at + count * width, at + count * width + 4 * count).buffer);
    const out = new Float32Array(weights.buffer, to, count * width);
    for (let row = 0, i = 0; row < count; row++) for (let k = 0; k < width; k++, i++) out[i] = integers[i] * scales[row];
  }
  return weights;
}

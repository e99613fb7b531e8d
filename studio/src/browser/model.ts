// A model in onnxruntime: reads sentences, then writes one piece a step. The state stays in named tensors.
import type { InferenceSession, Tensor } from "onnxruntime-web/wasm";

export interface Runtime {
  Tensor: typeof Tensor;
}

type Numbers = Float32Array | BigInt64Array | Uint8Array;
type Tensors = Record<string, Tensor>;

export interface State {
  /** A row for each hypothesis. */
  tensors: Tensors;
  /** The large ones: a row for each group of hypotheses that follow each other and are equally many. */
  shared: Tensors;
  rows: number;
}

/** What a step computed for all rows. */
export interface Outputs {
  rows: number;
  logits: Float32Array;
  /** [row, layer · head · source]; null without attention. */
  weights: Float32Array | null;
  /** query, scores, context and, with local-p, center: [row, …]. */
  trace: Record<string, Float32Array>;
}

const NEW = "new_";
const TRACE = ["query", "scores", "context", "center"];
const GIVEN = "given_weights";

export class Model {
  readonly vocabulary: number;
  #outputs: string[];

  constructor(
    private runtime: Runtime,
    private encoder: InferenceSession,
    private decoder: InferenceSession,
    private sharedNames: string[],
    vocabulary: number,
  ) {
    this.vocabulary = vocabulary;
    this.#outputs = decoder.outputNames.filter((name) => !TRACE.includes(name));
  }

  async start(sources: number[][]): Promise<State> {
    const longest = Math.max(...sources.map((ids) => ids.length));
    const flat = new BigInt64Array(sources.length * longest);
    sources.forEach((ids, row) => ids.forEach((id, i) => (flat[row * longest + i] = BigInt(id))));
    const lengths = BigInt64Array.from(sources, (ids) => BigInt(ids.length));
    const found = await this.encoder.run({
      source: this.#tensor("int64", flat, [sources.length, longest]),
      source_lengths: this.#tensor("int64", lengths, [sources.length]),
    });
    const state: State = { tensors: {}, shared: {}, rows: sources.length };
    for (const name of this.encoder.outputNames) {
      (this.sharedNames.includes(name) ? state.shared : state.tensors)[name] = found[name];
    }
    return state;
  }

  /** `given` are weights [source] that replace those of all layers and heads. */
  async step(tokens: number[], state: State, given: number[] | null = null, traced = false): Promise<{ outputs: Outputs; state: State }> {
    const feeds: Tensors = { tokens: this.#tensor("int64", BigInt64Array.from(tokens, BigInt), [tokens.length]), ...state.tensors, ...state.shared };
    if (given) {
      const rows = Float32Array.from({ length: tokens.length * given.length }, (_, i) => given[i % given.length]);
      feeds[GIVEN] = this.#tensor("float32", rows, [tokens.length, 1, 1, given.length]);
    }
    const found = await this.decoder.run(feeds, traced ? [...this.decoder.outputNames] : this.#outputs);
    const tensors = { ...state.tensors };
    const trace: Outputs["trace"] = {};
    for (const name of Object.keys(found)) {
      if (name.startsWith(NEW)) tensors[name.slice(NEW.length)] = found[name];
      else if (TRACE.includes(name)) trace[name] = found[name].data as Float32Array;
    }
    const logits = found.logits.data as Float32Array;
    const weights = (found.weights?.data as Float32Array | undefined) ?? null;
    return { outputs: { rows: tokens.length, logits, weights, trace }, state: { ...state, tensors } };
  }

  /** The state of chosen rows, in their order. */
  select(state: State, rows: number[]): State {
    if (rows.length === state.rows && rows.every((row, i) => row === i)) return state;
    const pick = (tensors: Tensors, chosen: number[]) =>
      Object.fromEntries(Object.entries(tensors).map(([name, one]) => [name, this.#pick(one, chosen)]));
    return { tensors: pick(state.tensors, rows), shared: this.#share(state, rows, pick), rows: rows.length };
  }

  #share(state: State, rows: number[], pick: (tensors: Tensors, chosen: number[]) => Tensors): Tensors {
    const [first] = Object.values(state.shared);
    if (!first) return {};
    const groups = first.dims[0];
    const owners = rows.map((row) => Math.floor(row / (state.rows / groups)));
    const kept = owners.filter((owner, i) => owner !== owners[i - 1]);
    const size = owners.length / kept.length;
    const equal = Number.isInteger(size) && owners.every((owner, i) => owner === kept[Math.floor(i / size)]);
    const chosen = equal ? kept : owners;
    return chosen.length === groups && chosen.every((owner, i) => owner === i) ? state.shared : pick(state.shared, chosen);
  }

  #pick(tensor: Tensor, rows: number[]): Tensor {
    const data = tensor.data as Numbers;
    const [count, ...rest] = tensor.dims;
    const width = count ? data.length / count : 0;
    const Kind = data.constructor as new (length: number) => Numbers;
    const picked = new Kind(rows.length * width);
    rows.forEach((row, i) => picked.set(data.subarray(row * width, (row + 1) * width) as never, i * width));
    return this.#tensor(tensor.type, picked, [rows.length, ...rest]);
  }

  #tensor(type: string, data: Numbers, dims: readonly number[]): Tensor {
    return new this.runtime.Tensor(type as "float32", data as Float32Array, dims);
  }
}

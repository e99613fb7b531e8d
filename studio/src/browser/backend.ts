// The backend of a page without a server: loads files, and passes requests to the worker.
import { ApiError, type Backend } from "../lib/api";
import type { ModelAbout, Models, TranslateRequest } from "../lib/types";
import { loading } from "./loading.svelte";
import { loadFile } from "./load_file";
import { check, LIMITS, type Kind } from "./options";
import type { Job } from "./worker";
import Engine from "./worker?worker&inline";

interface Listed {
  about: ModelAbout;
  file: string;
  bytes: number;
}

const listed: { models: Listed[]; runtime: number } = JSON.parse(document.getElementById("models")!.textContent!);

interface Waiting {
  resolve: (answer: any) => void;
  reject: (problem: unknown) => void;
  partial?: (answer: any) => void;
}

class Browser implements Backend {
  #worker: Worker | null = null;
  #waiting = new Map<number, Waiting>();
  #number = 0;
  #ready = new Map<string, Promise<void>>();

  async request<T>(method: string, path: string, body?: object, signal?: AbortSignal, partial?: (answer: T) => void): Promise<T> {
    if (path === "/models") return this.#models() as T;
    if (method !== "POST" || !["/translate", "/step", "/occlusion"].includes(path)) {
      throw new ApiError(404, "not_found", "This page has no server, so this is not possible here.");
    }
    check(path.slice(1) as Kind, body);
    const requested = body as TranslateRequest;
    const model = await this.open(requested.model ?? listed.models[0].about.id);
    signal?.throwIfAborted();
    return this.send<T>(path as Job["kind"], requested, model, signal, partial);
  }

  #models(): Models {
    const limits = { ...LIMITS, models: listed.models.length, lines: 0, body_bytes: 0, queue: 1, seconds: 0 };
    return { models: listed.models.map((one) => one.about), default: listed.models[0].about.id, limits, attention_files: 0 };
  }

  /** Loads the runtime and a model, once. */
  async open(id: string): Promise<string> {
    const one = listed.models.find((model) => model.about.id === id);
    if (!one) throw new ApiError(404, "not_found", `There is no model “${id}” in this page: it has ${listed.models.map((model) => model.about.id).join(", ")}.`);
    await this.#once("runtime", async () => {
      const wasm = await loadFile("runtime.js", listed.runtime, loading.begin("the runtime"));
      await this.send("runtime", wasm.buffer, undefined, undefined, undefined, [wasm.buffer]);
    });
    await this.#once(id, async () => {
      const bytes = await loadFile(one.file, one.bytes, loading.begin(`the model ${id}`));
      loading.begin(`the model ${id}`)(1);
      await this.send("open", bytes, id, undefined, undefined, [bytes.buffer]);
    }).finally(() => loading.end());
    return id;
  }

  /** A failure is not kept: the next request tries again. */
  #once(key: string, work: () => Promise<void>): Promise<void> {
    if (!this.#ready.has(key)) {
      const begun = work();
      this.#ready.set(key, begun);
      begun.catch(() => (this.#ready.delete(key), loading.end()));
    }
    return this.#ready.get(key)!;
  }

  send<T>(kind: Job["kind"], body: unknown, model?: string, signal?: AbortSignal, partial?: (answer: T) => void, moved: ArrayBuffer[] = []): Promise<T> {
    const number = this.#number++;
    const worker = (this.#worker ??= this.#start());
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject, partial });
      signal?.addEventListener("abort", () => {
        if (this.#waiting.delete(number)) worker.postMessage({ abandon: number });
        reject(signal.reason);
      }, { once: true });
      worker.postMessage({ number, kind, model, body } satisfies Job, moved);
    });
  }

  #start(): Worker {
    const worker = new Engine();
    worker.onmessage = ({ data }) => {
      const waiting = this.#waiting.get(data.number);
      if (!waiting) return;
      if (data.partial) return waiting.partial?.(data.partial);
      this.#waiting.delete(data.number);
      if (!data.problem) return waiting.resolve(data.answer);
      const { status, code, message, hint, field } = data.problem;
      waiting.reject(new ApiError(status, code, message, hint, field));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#worker = null;
      this.#ready.clear();
      const problem = new ApiError(500, "failed", `The translator stopped: ${event.message || "out of memory?"}`, "try again, or reload the page");
      for (const [number, waiting] of this.#waiting) {
        this.#waiting.delete(number);
        waiting.reject(problem);
      }
      worker.terminate();
    };
    return worker;
  }
}

export const browser = new Browser();

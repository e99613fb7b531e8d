// One request at a time: a newer one aborts the older, and the last answer stays until the next arrives.
import { onDestroy } from "svelte";
import { explained } from "./api";

export class Task<Answer> {
  answer = $state.raw<Answer | null>(null);
  problem = $state<string | null>(null);
  busy = $state(false);
  #abort: AbortController | null = null;

  constructor() {
    onDestroy(() => this.#abort?.abort()); // the view was left: its answer is not needed
  }

  async run(ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer | null> {
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    this.busy = true;
    this.problem = null;
    try {
      const answer = await ask(abort.signal);
      if (abort.signal.aborted) return null;
      this.answer = answer;
      return answer;
    } catch (error) {
      if (!abort.signal.aborted) {
        this.problem = explained(error);
        this.answer = null;
      }
      return null;
    } finally {
      if (this.#abort === abort) this.busy = false;
    }
  }

  clear(): void {
    this.#abort?.abort();
    this.answer = null;
    this.problem = null;
    this.busy = false;
  }
}

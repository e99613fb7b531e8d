// Whether the server answers: the banner shows it, and failed requests wait here until it is back.

const EVERY = 2000;

class Connection {
  gone = $state(false);
  #waiting: (() => void)[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  lost(): void {
    this.gone = true;
    this.#timer ??= setInterval(() => this.check(), EVERY);
  }

  found(): void {
    if (!this.gone) return;
    this.gone = false;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const go of this.#waiting.splice(0)) go();
  }

  async check(): Promise<void> {
    try {
      const answer = await fetch("/api/v1/health", { cache: "no-store" });
      if (answer.ok) this.found();
    } catch {
      // still gone
    }
  }

  /** Resolves once the server answers again; rejects where the request was given up meanwhile. */
  back(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}

export const connection = new Connection();

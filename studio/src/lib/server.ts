// The backend of the studio: /api/v1 over HTTP. Retries while the server is busy, waits while it is gone.
import { ApiError, type Backend } from "./api";
import { connection } from "./connection.svelte";

const TRIES = 4;
const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

export const server: Backend = {
  async request<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const headers = body && { "Content-Type": "application/json" };
    for (let attempt = 0; ; attempt++) {
      let answer: Response;
      try {
        answer = await fetch(`/api/v1${path}`, { method, headers, body: body && JSON.stringify(body), signal });
      } catch (error) {
        if (signal?.aborted) throw error;
        connection.lost();
        await connection.back(signal);
        continue;
      }
      connection.found();
      if ((answer.status === 429 || answer.status === 503) && attempt < TRIES) {
        const seconds = Number(answer.headers.get("Retry-After")) || 0.5 * 2 ** attempt;
        await wait(1000 * Math.min(seconds, 10));
        continue;
      }
      const found = await answer.json().catch(() => null);
      if (answer.ok) return found as T;
      const { code = "failed", message = `The server answered ${answer.status}.`, hint = null, field = null } =
        found?.error ?? {};
      throw new ApiError(answer.status, code, message, hint, field);
    }
  },
};

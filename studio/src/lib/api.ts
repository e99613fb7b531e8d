// The client of /api/v1: JSON in and out, retries while the server is busy, reports when it is gone.
import { connection } from "./connection.svelte";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly field: string | null,
  ) {
    super(message);
  }
}

const TRIES = 4;
const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

async function send<T>(path: string, options: RequestInit): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    let answer: Response;
    try {
      answer = await fetch(`/api/v1${path}`, options);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      connection.lost();
      await connection.back(options.signal ?? undefined);
      continue;
    }
    connection.found();
    if ((answer.status === 429 || answer.status === 503) && attempt < TRIES) {
      const seconds = Number(answer.headers.get("Retry-After")) || 0.5 * 2 ** attempt;
      await wait(1000 * Math.min(seconds, 10));
      continue;
    }
    const body = await answer.json().catch(() => null);
    if (answer.ok) return body as T;
    const { code = "failed", message = `The server answered ${answer.status}.`, hint = null, field = null } =
      body?.error ?? {};
    throw new ApiError(answer.status, code, message, hint, field);
  }
}

export const get = <T>(path: string, signal?: AbortSignal) => send<T>(path, { signal });

export const remove = (path: string) => send<null>(path, { method: "DELETE" });

export const post = <T>(path: string, body: object, signal?: AbortSignal) =>
  send<T>(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

/** A message for people: what is wrong, and the remedy. */
export function explained(error: unknown): string {
  if (error instanceof ApiError) return error.hint ? `${error.message} (${error.hint})` : error.message;
  return error instanceof Error ? error.message : String(error);
}

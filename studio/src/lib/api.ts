// Requests of the views: JSON in and out, through one backend that the page connects when it starts.

/** Answers the requests of /api/v1. The studio's backend is server.ts; a page without a server brings its own. */
export interface Backend {
  /** Resolves with the JSON of the answer, rejects with an ApiError. `path` has no /api/v1 in front. */
  request<T>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: object,
    signal?: AbortSignal,
    /** Called with what is known of the answer before it is complete; a backend may leave it out. */
    partial?: (answer: T) => void,
  ): Promise<T>;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
    readonly field: string | null = null,
  ) {
    super(message);
  }
}

let backend: Backend;
export const connect = (chosen: Backend): void => void (backend = chosen);

export const get = <T>(path: string, signal?: AbortSignal) => backend.request<T>("GET", path, undefined, signal);

export const post = <T>(path: string, body: object, signal?: AbortSignal, partial?: (answer: T) => void) =>
  backend.request<T>("POST", path, body, signal, partial);

export const remove = (path: string) => backend.request<null>("DELETE", path);

/** A message for people: what is wrong, and the remedy. */
export function explained(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const message = error.message.replace(/^[a-z]+ /, (word) => word[0].toUpperCase() + word.slice(1)); // not of a key
  return error.hint ? `${message} (${error.hint})` : message;
}

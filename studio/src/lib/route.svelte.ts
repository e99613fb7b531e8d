// The state of the page is its address: #/view?key=value. A permalink stores the request, never the answer.

export interface Route {
  view: string;
  query: URLSearchParams;
}

function parse(): Route {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { view: path || "translate", query: new URLSearchParams(query) };
}

class Router {
  #route = $state.raw<Route>(parse());
  /** Controls that the backend of this page cannot serve: hidden in every address. */
  absent: string[] = [];

  constructor() {
    addEventListener("hashchange", () => (this.#route = parse()));
  }

  get view(): string {
    return this.#route.view;
  }

  get query(): URLSearchParams {
    return this.#route.query;
  }

  text(key: string, otherwise = ""): string {
    return this.#route.query.get(key) ?? otherwise;
  }

  number(key: string): number | null {
    const found = this.#route.query.get(key);
    return found === null || found === "" || Number.isNaN(Number(found)) ? null : Number(found);
  }

  /** Changes keys of the present view; null removes one. `push` makes a step of the back button. */
  set(changes: Record<string, string | number | null>, push = false): void {
    const query = new URLSearchParams(this.#route.query);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === "") query.delete(key);
      else query.set(key, String(value));
    }
    this.go(this.#route.view, query, push);
  }

  go(view: string, query: URLSearchParams, push = true): void {
    const address = href(view, query);
    if (address === location.hash) return;
    history[push ? "pushState" : "replaceState"](null, "", address);
    this.#route = parse();
  }

  /** Lesson links: &hide=a,b leaves controls out, &lock=a,b disables them. */
  hidden(control: string): boolean {
    return this.absent.includes(control) || this.text("hide").split(",").includes(control);
  }

  locked(control: string): boolean {
    return this.text("lock").split(",").includes(control);
  }
}

export function href(view: string, query: URLSearchParams | Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Keys that mean the same in every view: a change of view keeps the sentence. */
const SHARED = ["model", "text", "mode", "target", "prefix", "prefix_ids", "beam", "hide", "lock"];

export function shared(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams(SHARED.flatMap((key) => (query.has(key) ? [[key, query.get(key)!]] : [])));
}

export const router = new Router();

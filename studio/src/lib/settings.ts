// How an alignment is drawn; kept in the address, or in a self-contained page in memory.
import type { Scale, Unit } from "./matrix";

export type Rendering = "matrix" | "ribbons" | "table";

export interface Settings {
  rendering: Rendering;
  unit: Unit;
  scale: Scale;
  layer: number | null;
  head: number | null;
}

export type Change = Partial<Record<keyof Settings, string | number | null>>;

const among = <Value extends string>(found: string | null, allowed: Value[]): Value =>
  allowed.includes(found as Value) ? (found as Value) : allowed[0];

export function readSettings(query: URLSearchParams): Settings {
  const place = (key: string) => (/^\d{1,3}$/.test(query.get(key) ?? "") ? Number(query.get(key)) : null);
  return {
    rendering: among(query.get("rendering"), ["matrix", "ribbons", "table"]),
    unit: among(query.get("unit"), ["word", "piece"]),
    scale: among(query.get("scale"), ["one", "row", "root"]),
    layer: place("layer"),
    head: place("head"),
  };
}

/** The same for the address: defaults are left out. */
export function writeSettings(change: Change): Record<string, string | number | null> {
  const defaults: Record<string, string> = { rendering: "matrix", unit: "word", scale: "one" };
  return Object.fromEntries(Object.entries(change).map(([key, value]) => [key, value === defaults[key] ? null : value]));
}

export const SCALES: Record<Scale, string> = { one: "0–1", row: "row", root: "√" };

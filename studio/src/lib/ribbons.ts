// Which weights are drawn as ribbons, and how much of the mass they hold.
import { scaled, type Matrix, type Scale } from "./matrix";

export const LEAST = 0.05;

export interface Ribbon {
  row: number;
  column: number;
  value: number;
  /** 0 to 1 on the colour scale: thickness and opacity. */
  strength: number;
}

export function ribbonsOf(matrix: Matrix, scale: Scale): Ribbon[] {
  const values = scaled(matrix, scale);
  return matrix.values.flatMap((line, row) =>
    line.flatMap((value, column) =>
      Math.abs(value) >= LEAST ? [{ row, column, value, strength: Math.abs(values[row][column]) }] : [],
    ),
  );
}

export const thickness = (ribbon: Ribbon): number => 1 + 13 * ribbon.strength;
export const opacity = (ribbon: Ribbon): number => 0.25 + 0.65 * ribbon.strength;

export function leftOut(matrix: Matrix, ribbons: Ribbon[]): string {
  const whole = matrix.values.flat().reduce((sum, value) => sum + Math.abs(value), 0) || 1;
  const kept = ribbons.reduce((sum, one) => sum + Math.abs(one.value), 0);
  return `Ribbons below ${100 * LEAST} % are left out: ${Math.round((100 * kept) / whole)} % of the mass shown.`;
}

// Paints the cells of a matrix and its gold links on a canvas.
import { colourOf, inkOn, palette } from "./colour";
import type { Matrix } from "./matrix";

/** The part of the matrix that is shown, and the pixels of a cell. */
export interface Part {
  top: number;
  left: number;
  tall: number;
  wide: number;
  cell: number;
  tallCell: number;
  rtl: boolean;
  dark: boolean;
}

const [ORANGE, BROWN] = ["#ffb45c", "#b4540a"];

/** `values` are scaled for the colours. */
export function paint(canvas: HTMLCanvasElement, matrix: Matrix, values: number[][], part: Part): void {
  const { top, left, tall, wide, cell, tallCell, rtl, dark } = part;
  const dense = devicePixelRatio || 1;
  const colours = palette(dark, matrix.difference);
  canvas.width = wide * cell * dense;
  canvas.height = tall * tallCell * dense;
  const pen = canvas.getContext("2d")!;
  pen.scale(dense, dense);
  pen.lineWidth = 2;
  for (let i = 0; i < tall; i++) {
    for (let j = 0; j < wide; j++) {
      const x = (rtl ? wide - 1 - j : j) * cell;
      const colour = colourOf(colours, values[top + i][left + j], matrix.difference);
      pen.fillStyle = colour;
      pen.fillRect(x + 0.5, i * tallCell + 0.5, cell - 1, tallCell - 1);
      const key = `${top + i},${left + j}`;
      if (!matrix.sure.has(key) && !matrix.possible.has(key)) continue;
      // On a dark page a bright cell is yellow, where orange cannot be seen.
      pen.strokeStyle = dark && inkOn(colour) === "#ffffff" ? ORANGE : BROWN;
      pen.setLineDash(matrix.sure.has(key) ? [] : [3, 3]);
      pen.strokeRect(x + 2, i * tallCell + 2, cell - 4, tallCell - 4);
    }
  }
}

// The keys of a grid (W3C pattern): arrows, Home, End, Page Up, Page Down.

interface Grid {
  rows: number;
  columns: number;
  rtl: boolean;
}

/** The cell that a key leads to; null for other keys. ArrowLeft is visually left. */
export function gridMove(event: KeyboardEvent, row: number, column: number, grid: Grid): [number, number] | null {
  const visual = grid.rtl ? -1 : 1;
  const all = event.ctrlKey || event.metaKey;
  const moves: Record<string, [number, number]> = {
    ArrowLeft: [row, column - visual],
    ArrowRight: [row, column + visual],
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    Home: [all ? 0 : row, 0],
    End: [all ? grid.rows - 1 : row, grid.columns - 1],
    PageUp: [row - 10, column],
    PageDown: [row + 10, column],
  };
  const to = moves[event.key];
  const within = (place: number, most: number) => Math.max(0, Math.min(most - 1, place));
  return to ? [within(to[0], grid.rows), within(to[1], grid.columns)] : null;
}

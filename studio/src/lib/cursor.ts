// The place that a person points at: shared by linked drawings. `column` null: a whole row; `row` null: a whole column.

export interface Cursor {
  row: number | null;
  column: number | null;
  pinned: boolean;
}

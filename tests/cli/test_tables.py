"""Tables on a terminal: folded to its width, with no column lost."""

import pytest

from regard.cli.screen import fold_table, plain_table

ROWS = [
    ["variant", "BLEU", "p", "parameters", "differs from additive in"],
    ["additive (1 of 3 seeds)", "12.30 ± 0.20", "–", "1,234,567", ""],
    ["dot", "11.10", "0.010", "1,234,000", "model.score: 'additive' → 'dot'; model.encoder_units: 128 → 64"],
]


@pytest.mark.parametrize("width", [50, 60, 80, 100, 200])
def test_no_column_is_clipped_at_any_width(width: int) -> None:
    lines = fold_table(ROWS, width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for row in ROWS:
        for cell in row:
            assert set(cell.split()) <= set(words)


def test_blocks_repeat_the_names_of_the_rows() -> None:
    lines = fold_table(ROWS, 60)
    assert sum(line.startswith("variant") for line in lines) == 2
    assert sum(line.startswith("dot") for line in lines) == 2
    assert fold_table(ROWS, 200) == plain_table(ROWS)

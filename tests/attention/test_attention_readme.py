"""The table in attention/README.md is true: names, classes, equations, folders; and its example runs."""

import re
from pathlib import Path

from regard import attention
from regard.attention.additive import reference as additive
from regard.attention.local import reference as local
from regard.attention.multiplicative import reference as multiplicative
from regard.attention.none import reference as none
from regard.attention.scaled_dot import reference as scaled_dot

FOLDER = Path(attention.__file__).parent
TEXT = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("| `")
]
EQUATIONS = {
    "additive": additive.EQUATION,
    "dot": multiplicative.DOT_EQUATION,
    "general": multiplicative.GENERAL_EQUATION,
    "concat": multiplicative.CONCAT_EQUATION,
    "scaled-dot": scaled_dot.SCALED_DOT_EQUATION,
    "multi-head": scaled_dot.MULTI_HEAD_EQUATION,
    "none": none.EQUATION,
    "local-m": local.LOCAL_M_EQUATION,
    "local-p": local.LOCAL_P_EQUATION,
}


def test_the_tables_list_every_mechanism_with_its_class_equation_and_folder() -> None:
    assert [row[0] for row in ROWS] == [*attention.SCORES, *attention.WINDOWS]
    for name, class_name, equation, _, place in ROWS:
        assert getattr(attention, class_name).__module__.startswith(
            f"regard.attention.{place.removesuffix('/').removesuffix('.py')}"
        )
        if name != "global":
            assert equation == EQUATIONS[name]


def test_the_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    found: dict[str, object] = {}
    exec(code, found)
    assert found["seen"].weights.shape == (2, 1, 1, 5)

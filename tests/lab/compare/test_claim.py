"""Item 6: two comparisons that start in one folder at once never mix."""

from pathlib import Path

import pytest

from regard.lab.compare import run_plan
from regard.lab.compare.plan import Comparison, make_plan
from regard.lab.compare.run_plan import PLAN, claimed, open_folder
from regard.text.input_error import InputError


def test_a_comparison_started_meanwhile_keeps_its_plan(
    comparison: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check of an empty folder and the plan that is written there, another process opens the folder."""
    first, second = make_plan(comparison), make_plan(comparison.model_copy(update={"seeds": 1}))
    check_readable, folder = run_plan.check_readable, tmp_path / "out"

    def check_slowly(data: object) -> None:
        monkeypatch.setattr(run_plan, "check_readable", check_readable)
        open_folder(first, folder, resume=False)

    monkeypatch.setattr(run_plan, "check_readable", check_slowly)
    with pytest.raises(InputError, match="out holds a comparison: --resume continues it, --out names another"):
        open_folder(second, folder, resume=False)
    written = (folder / PLAN).read_bytes()
    assert len(open_folder(first, folder, resume=True)) > 0
    assert (folder / PLAN).read_bytes() == written


def test_a_comparison_is_not_opened_while_another_process_holds_its_folder(
    comparison: Comparison, tmp_path: Path
) -> None:
    with (
        claimed(tmp_path / "out"),
        pytest.raises(InputError, match=r"another process runs the comparison in .*out: wait for it, or stop it first"),
    ):
        open_folder(make_plan(comparison), tmp_path / "out", resume=False)
    assert not (tmp_path / "out" / PLAN).exists()


def test_a_folder_that_cannot_be_made_is_one_message(comparison: Comparison, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot write .*out: a part of this path is a file"):
        open_folder(make_plan(comparison), tmp_path / "file" / "out", resume=False)

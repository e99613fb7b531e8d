"""Issue 13, item 3: forged bundles end soon, in little memory, with one short message."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regard.bundle import load_bundle
from regard.lab.describe import describe
from regard.runtime.translator import load
from regard.text.input_error import InputError

from .forged import GIGABYTE, LONG, change, forgeries

SECONDS = 5.0
"""Of processor time, for one bundle."""
MESSAGE = 1500
"""Characters of a message."""


def test_each_forged_bundle_is_refused_in_little_time_and_memory(folder: Path, tmp_path: Path) -> None:
    names = []
    for name, forge in forgeries():
        place = tmp_path / "forged" / str(len(names))
        shutil.copytree(folder, place)
        forge(place)
        names.append(name)
    assert len(names) >= 100
    places = [tmp_path / "forged" / str(number) for number in range(len(names))]
    child = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).parent / "load_all.py")],
        input="".join(f"{place}\n" for place in places), capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    shutil.rmtree(tmp_path / "forged")
    answers = [json.loads(line) for line in child.stdout.splitlines()]
    wrong = [f"{name}: {problem}" for name, one in zip(names, answers, strict=False) for problem in problems(one)]
    assert not wrong, "\n".join(wrong)
    assert len(answers) == len(names), f"{names[len(answers)]}: exit code {child.returncode}: {child.stderr[-500:]}"


def problems(one: dict[str, object]) -> list[str]:
    message, seconds, peak = str(one["message"]), float(str(one["seconds"])), int(str(one["peak"]))
    found = []
    if one["kind"] != "refused" or len(message) > MESSAGE or "\n" in message:
        found.append(f"{one['kind']}: {message[:200]}")
    if "is not as it was saved" in message:
        found.append("refused for the manifest's checksum, which a forger leaves out")
    if seconds > SECONDS:
        found.append(f"{seconds:.1f} s")
    if peak > GIGABYTE:
        found.append(f"{peak >> 20} MB")
    return found


@pytest.mark.parametrize(
    "search",
    [
        {"beam": 10**9}, {"beam": "x", "nbest": 2}, {"beam": 2, "nbest": 10**9}, {"longest": 10**12},
        {"longest": {"factor": 1e300}}, {"length_penalty": 1e300}, {"seed": 10**400, "temperature": 1.0}, {LONG: 1},
        {"beam": LONG}, {"top_k": 10**400, "temperature": 1.0},
    ],
    ids=range(10),
)  # fmt: skip
def test_a_bundle_with_an_endless_search_is_refused(folder: Path, search: dict[str, object]) -> None:
    change(search=search)(folder)
    translator = load(folder)
    with pytest.raises(InputError) as caught:
        translator.translate("the cat", **({"nbest": 2} if search.get("beam") == "x" else {}))
    assert len(str(caught.value)) <= MESSAGE


@pytest.mark.parametrize("recipe", [{"train": 3}, {"train": {"guide": LONG}}, {"data": [1]}, {"description": LONG}])
def test_a_manifest_may_hold_any_recipe(folder: Path, recipe: dict[str, object]) -> None:
    change(recipe=recipe)(folder)
    load(folder)
    assert all(len(value) <= 1000 for _, value in describe(load_bundle(folder)))

"""What tuning found, kept in a file: read back as it was written, refused with one line where it is not."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from regard.lab.align_job import prepare, run
from regard.lab.asked import Asked
from regard.lab.reading import FORMAT, Reading, Rule, load_reading, save_reading
from regard.runtime.posterior import Posterior
from regard.text.errors import InputError
from runtime.bundles import untrained

ONE: dict[str, Any] = {"format": FORMAT, "forward": {"shift": 0}}
TWO: dict[str, Any] = {**ONE, "backward": {"shift": 0}, "symmetrise": "union"}


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_it_survives_the_file(tmp_path: Path) -> None:
    reading = Reading.model_validate(
        {
            **TWO,
            "forward": {"heads": [[1, 0], [0, 2]], "shift": 1, "threshold": 0.25, "null": True},
            "forward_joined": {"method": "threshold", "threshold": 0.15},
            "posterior": {"prior": 0.3, "evidence": "word"},
            "development": 0.04,
        }
    )
    save_reading(tmp_path / "deep" / "tuned.json", reading)
    assert load_reading(tmp_path / "deep" / "tuned.json") == reading
    assert reading.forward.link_rule().heads == ((1, 0), (0, 2))


@pytest.mark.parametrize("asked", [(None,), (Posterior(0.5, "word"),), (None, Posterior(0.5, "word"), Posterior(2.0))])
@pytest.mark.parametrize("two", [False, True])
def test_what_was_tuned_reads_the_same_links_without_the_development_set(
    run_folder: Path, tmp_path: Path, asked: tuple[Posterior | None, ...], two: bool
) -> None:
    reverse, path = (run_folder if two else None), tmp_path / "tuned.json"
    tuned = run(prepare(Asked(run_folder, reverse=reverse, tune=True, posteriors=asked)))
    save_reading(path, tuned.reading)
    again = run(prepare(Asked(run_folder, reverse=reverse, reading=path)))
    assert not again.tuned
    assert again.aligned.chosen == tuned.aligned.chosen
    assert again.aligned.links == tuned.aligned.links
    assert again.scores == tuned.scores
    assert again.reading == tuned.reading.model_copy(update={"development": None})


def test_given_options_are_kept_as_well(run_folder: Path, tmp_path: Path) -> None:
    outcome = run(prepare(Asked(run_folder, reverse=run_folder, symmetrise="union", heads="0.0")))
    assert outcome.reading.symmetrise == "union"
    assert outcome.reading.forward == Rule(heads=((0, 0),))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "says nothing about how links are read: wanted what --save-reading writes"),
        ({"format": "regard-reading-2"}, "says nothing about how links are read"),
        ({"format": FORMAT}, "tuned.json: forward is missing"),
        ({**ONE, "forward": 3}, "tuned.json: forward = 3: wanted a table"),
        ({**ONE, "forward": {"threshhold": 1}}, "unknown key forward.threshhold: did you mean 'threshold'"),
        ({**ONE, "forward": {"shift": 7}}, "tuned.json: forward: shift 7: links are in the row before"),
        ({**ONE, "forward": {"threshold": 7}}, "threshold 7.0 is no attention weight"),
        ({**ONE, "forward": {"threshold": float("nan")}}, "forward.threshold = nan: wanted a finite number"),
        ({**ONE, "forward": {"method": "max"}}, "forward.method = 'max': did you mean 'argmax'"),
        ({**ONE, "forward": {"heads": [[5, 0]]}}, "tuned.json was not made for .*: there is no head 5.0: this model"),
        ({**ONE, "forward": {"heads": [[-1, 0]]}}, "forward.heads.1.1 = -1: wanted at least 0"),
        ({**ONE, "posterior": {"prior": 99}}, "posterior.prior = 99: wanted at most 10"),
        ({**ONE, "symmetrise": "union"}, "backward and symmetrise go together"),
        ({**ONE, "backward_joined": {}}, "backward is missing"),
        ({**TWO, "symmetrise": "both"}, "no symmetrisation 'both': valid choices are intersection"),
        (TWO, "tuned.json reads two directions: name the model of the other one with --reverse"),
    ],
)
def test_what_is_no_reading_is_refused_with_one_line(
    run_folder: Path, tmp_path: Path, content: Any, message: str
) -> None:
    path = written(tmp_path / "tuned.json", content)
    with pytest.raises(InputError, match=message) as caught:
        prepare(Asked(run_folder, reading=path))
    assert "\n" not in str(caught.value)


def test_a_model_that_cannot_be_asked_is_refused_for_what_the_file_says(tmp_path: Path) -> None:
    bundle = untrained(tmp_path / "transformer", "transformer")
    path = written(tmp_path / "tuned.json", {**ONE, "posterior": {"prior": 1.0}})
    with pytest.raises(
        InputError, match=r"tuned\.json was not made for .*transformer: .*a Transformer cannot"
    ) as caught:
        prepare(Asked(bundle, reading=path))
    assert "leave" not in str(caught.value)


def test_one_direction_is_not_read_as_two(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tuned\.json reads one direction: leave --reverse out"):
        prepare(Asked(run_folder, reverse=run_folder, reading=written(tmp_path / "tuned.json", ONE)))


@pytest.mark.parametrize("content", [b"\xff\x00", b"", b"{", b"[" * 100_000])
def test_what_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tuned.json").write_bytes(content)
    with pytest.raises(InputError, match="says nothing about how links are read"):
        load_reading(tmp_path / "tuned.json")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path / "nowhere", "no file .*nowhere: nothing like it"),
        (tmp_path, "is a folder, wanted a file"),
        (tmp_path / "pipe", "is a device or a pipe, wanted a file"),
        (Path("/dev/zero"), "is a device or a pipe, wanted a file"),
    ):
        with pytest.raises(InputError, match=message):
            load_reading(path)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="says nothing about how links are read"):
        load_reading(tmp_path / "large")

"""Alignment settings in a file: what is saved is loaded again, and a wrong file is refused with one line."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from regard.lab.align_job import prepare, run
from regard.lab.align_settings import FORMAT, AlignOptions, AlignRequest, AlignSettings, Extraction
from regard.text.input_error import InputError
from runtime.bundles import untrained

ONE: dict[str, Any] = {"format": FORMAT, "forward": {"shift": 0}}
TWO: dict[str, Any] = {**ONE, "backward": {"shift": 0}, "symmetrise": "union"}


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_settings_survive_the_file(tmp_path: Path) -> None:
    settings = AlignSettings.model_validate(
        {
            **TWO,
            "forward": {"heads": [[1, 0], [0, 2]], "shift": 1, "threshold": 0.25, "null": True},
            "forward_joined": {"method": "threshold", "threshold": 0.15},
            "posterior": {"prior": 0.3, "evidence": "word"},
            "development": 0.04,
        }
    )
    settings.save(tmp_path / "deep" / "tuned.json")
    assert AlignSettings.load(tmp_path / "deep" / "tuned.json") == settings
    assert settings.forward.link_rule().heads == ((1, 0), (0, 2))


@pytest.mark.parametrize(
    "options",
    [AlignOptions(), AlignOptions(posterior=0.5, evidence="word"), AlignOptions(posterior="tune", evidence="word")],
)
@pytest.mark.parametrize("two", [False, True])
def test_saved_settings_extract_the_same_links_without_the_development_set(
    run_folder: Path, tmp_path: Path, options: AlignOptions, two: bool
) -> None:
    reverse, path = (run_folder if two else None), tmp_path / "tuned.json"
    tuned = run(prepare(AlignRequest(run_folder, options, reverse=reverse, tune=True)))
    tuned.settings.save(path)
    again = run(prepare(AlignRequest(run_folder, reverse=reverse, settings=path)))
    assert again.tuning is None
    assert again.aligned.chosen == tuned.aligned.chosen
    assert again.aligned.links == tuned.aligned.links
    assert again.scores == tuned.scores
    assert again.settings == tuned.settings.model_copy(update={"development": None})


def test_given_options_are_kept_as_well(run_folder: Path, tmp_path: Path) -> None:
    outcome = run(prepare(AlignRequest(run_folder, AlignOptions(symmetrise="union", heads="0.0"), reverse=run_folder)))
    assert outcome.settings.symmetrise == "union"
    assert outcome.settings.forward == Extraction(heads=((0, 0),))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "holds no alignment settings: expected a file that --save-settings wrote"),
        ({"format": "regard-reading-2"}, "holds no alignment settings"),
        ({"format": FORMAT}, "tuned.json: forward is missing"),
        ({**ONE, "forward": 3}, "tuned.json: forward = 3: expected a table"),
        ({**ONE, "forward": {"threshhold": 1}}, "unknown key forward.threshhold: did you mean 'threshold'"),
        ({**ONE, "forward": {"shift": 7}}, "tuned.json: forward: shift 7: links are in the row before"),
        ({**ONE, "forward": {"threshold": 7}}, "threshold 7.0 is not an attention weight"),
        ({**ONE, "forward": {"threshold": float("nan")}}, "forward.threshold = nan: expected a finite number"),
        ({**ONE, "forward": {"method": "max"}}, "forward.method = 'max': did you mean 'argmax'"),
        ({**ONE, "forward": {"heads": [[5, 0]]}}, "tuned.json was not made for .*: there is no head 5.0: this model"),
        ({**ONE, "forward": {"heads": [[-1, 0]]}}, "forward.heads.1.1 = -1: expected at least 0"),
        ({**ONE, "posterior": {"prior": 99}}, "posterior.prior = 99: expected at most 10"),
        ({**ONE, "symmetrise": "union"}, "backward and symmetrise need each other"),
        ({**ONE, "backward_joined": {}}, "backward is missing"),
        ({**TWO, "symmetrise": "both"}, "symmetrise = 'both': valid choices are intersection"),
        (TWO, "tuned.json is for two directions: name the model of the other one with --reverse"),
    ],
)
def test_wrong_settings_are_refused_with_one_line(run_folder: Path, tmp_path: Path, content: Any, message: str) -> None:
    path = written(tmp_path / "tuned.json", content)
    with pytest.raises(InputError, match=message) as caught:
        prepare(AlignRequest(run_folder, settings=path))
    assert "\n" not in str(caught.value)


def test_settings_that_do_not_fit_the_model_are_refused(tmp_path: Path) -> None:
    bundle = untrained(tmp_path / "transformer", "transformer")
    path = written(tmp_path / "tuned.json", {**ONE, "posterior": {"prior": 1.0}})
    with pytest.raises(
        InputError, match=r"tuned\.json was not made for .*transformer: .*not defined for a Transformer"
    ) as caught:
        prepare(AlignRequest(bundle, settings=path))
    assert "leave" not in str(caught.value)


def test_settings_for_one_direction_are_refused_for_two(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tuned\.json is for one direction: leave --reverse out"):
        prepare(AlignRequest(run_folder, reverse=run_folder, settings=written(tmp_path / "tuned.json", ONE)))


@pytest.mark.parametrize("content", [b"\xff\x00", b"", b"{", b"[" * 100_000])
def test_invalid_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tuned.json").write_bytes(content)
    with pytest.raises(InputError, match="holds no alignment settings"):
        AlignSettings.load(tmp_path / "tuned.json")


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path / "nowhere", "no file .*nowhere: nothing like it"),
        (tmp_path, "is a folder, expected a file"),
        (tmp_path / "pipe", "is a device or a pipe, expected a file"),
        (Path("/dev/zero"), "is a device or a pipe, expected a file"),
    ):
        with pytest.raises(InputError, match=message):
            AlignSettings.load(path)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="holds no alignment settings"):
        AlignSettings.load(tmp_path / "large")

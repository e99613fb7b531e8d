"""Items 5 and 6: no run continues with damaged or changed files, and none is replaced without --overwrite."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import regard
from bundle.conftest import flip_bit
from regard.bundle.manifest import BundleError
from regard.bundle.store import load_bundle
from regard.text.input_error import InputError
from regard.training import setup, training_loop
from regard.training.journal import Event, Started, Stepped, Warned
from regard.training.recipe import Recipe, parse_recipe
from regard.training.run import train

from .tiny import TABLES, Listener, Stop, contents, equal, stop_at, stopped, tiny, weights

RECIPE = tiny(train={"steps": 8, "validate_every": 2, "average": 2})
FLIPS = 40
"""For each file."""
FILES = (
    "manifest.json", "model.safetensors", "source.tokenizer.json", "target.tokenizer.json", "training.json",
    "training.safetensors",
)  # fmt: skip


@pytest.fixture(scope="module")
def halfway(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Killed in step 5 of 8; its checkpoint is of step 4. Tests copy it."""
    return stopped(RECIPE, tmp_path_factory.mktemp("runs") / "halfway", 5)


@pytest.fixture
def folder(halfway: Path, tmp_path: Path) -> Path:
    shutil.copytree(halfway, tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_in_any_file_of_a_checkpoint_is_noticed(folder: Path, name: str) -> None:
    path, random = folder / "last" / name, Random(name)
    assert sorted(one.name for one in path.parent.iterdir()) == sorted(FILES), "a file that this test does not flip"
    data, before = path.read_bytes(), contents(folder)
    for _ in range(FLIPS):
        path.write_bytes(flip_bit(data, random))
        with pytest.raises(BundleError, match=name):
            train(RECIPE, folder, resume=True)
    path.write_bytes(data)
    assert contents(folder) == before
    assert train(RECIPE, folder, resume=True).steps == 4


def test_with_a_damaged_checkpoint_the_model_is_offered_for_start_from(folder: Path) -> None:
    path = folder / "last" / "training.json"
    path.write_bytes(flip_bit(path.read_bytes(), Random(0)))
    with pytest.raises(BundleError) as caught:
        train(RECIPE, folder, resume=True)
    assert str(caught.value) == (
        f"cannot resume from {folder / 'last'}: {path} is damaged (its checksum is not the manifest's): copy the whole "
        f"bundle again; the model in it can still be used, with train.start_from = '{folder / 'last'}'"
    )
    load_bundle(folder / "last")


def test_a_checkpoint_of_version_1_still_resumes(folder: Path, tmp_path: Path) -> None:
    """In version 1 only the bundle's own files had checksums."""
    last = folder / "last"
    manifest = json.loads((last / "manifest.json").read_text())
    del manifest["sha256"], manifest["files"]["training.json"], manifest["files"]["training.safetensors"]
    (last / "manifest.json").write_text(json.dumps({**manifest, "version": 1}))
    state = json.loads((last / "training.json").read_text())
    (last / "training.json").write_text(json.dumps({name: state[name] for name in ("progress", "data")}))
    assert train(RECIPE, folder, resume=True).steps == 4
    train(RECIPE, tmp_path / "whole")
    assert equal(weights(folder), weights(tmp_path / "whole"))


def test_weights_kept_for_the_average_are_checked(tmp_path: Path) -> None:
    recipe = tiny(train={"steps": 6, "validate_every": 2, "average": 3, "metric": "loss"})
    received: list[Event] = []

    def damage(event: Event) -> None:
        received.append(event)
        if isinstance(event, Stepped) and event.step == 5:
            first = kept(tmp_path / "run")[0]
            first.write_bytes(flip_bit(first.read_bytes(), Random(1)))

    train(recipe, tmp_path / "run", listener=damage)
    (expected,) = [event.message for event in received if isinstance(event, Warned)]
    assert expected == f"{kept(tmp_path / 'run')[0]} is damaged: the average leaves it out"
    (averaged,) = [event for event in received if event.kind == "averaged"]
    assert averaged.count == 2


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "average").iterdir())


def test_a_missing_checkpoint_beside_a_good_model_is_refused(folder: Path) -> None:
    shutil.rmtree(folder / "last")
    before = contents(folder)
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            train(RECIPE, folder, resume=True)
        assert str(caught.value) == (
            f"cannot resume in {folder}: its checkpoint last/ is missing, and a new start would replace its files "
            f"(best/ of step {load_bundle(folder / 'best').manifest.trained['steps']}, average/, journal.jsonl): put "
            f"last/ back, start a new run with these weights (--out NEW --set train.start_from={folder}), or replace "
            "them with --overwrite"
        )
    assert contents(folder) == before
    (folder / "best").rename(folder / ".best.old")  # a kill came between two renames
    with pytest.raises(InputError, match=r"last/ is missing, .* \(best/ of step"):
        train(RECIPE, folder, resume=True)
    assert contents(folder) == before
    train(RECIPE, folder, overwrite=True)


def test_a_missing_checkpoint_of_a_finished_run_is_refused(tmp_path: Path) -> None:
    train(RECIPE, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "last")
    (tmp_path / "run" / "best" / "manifest.json").write_text("damaged")
    with pytest.raises(InputError, match=r"last/ is missing, .* \(best/, average/, journal.jsonl, curve.png\)"):
        train(RECIPE, tmp_path / "run", resume=True)
    shutil.rmtree(tmp_path / "run" / "best")
    with pytest.raises(InputError, match=r"last/ is missing, .* \(average/, journal.jsonl, curve.png\)"):
        train(RECIPE, tmp_path / "run", resume=True)


def test_the_first_checkpoint_comes_before_the_first_best_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a killed run never has best/ without last/, and a missing best/ is restored from the checkpoint."""
    train(RECIPE, tmp_path / "whole")

    def killed(*given: object, **more: object) -> None:
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(training_loop, "save_checkpoint", killed)
        with pytest.raises(Stop):
            train(RECIPE, tmp_path / "run")
        assert not (tmp_path / "run" / "best").exists()
    with monkeypatch.context() as patch:
        patch.setattr("regard.training.checkpoint.copy_bundle", killed)
        with pytest.raises(Stop):
            train(RECIPE, tmp_path / "run", resume=True)
    assert (tmp_path / "run" / "last").exists()
    assert not (tmp_path / "run" / "best").exists()
    with pytest.raises(Stop):
        train(RECIPE, tmp_path / "run", resume=True, listener=stop_at(3))
    assert load_bundle(tmp_path / "run" / "best").manifest.trained == {"steps": 2, "exact_match": 0.0}
    train(RECIPE, tmp_path / "run", resume=True)
    for name in ("best", "last"):
        assert equal(weights(tmp_path / "run", name), weights(tmp_path / "whole", name))


def test_a_finished_run_of_one_checkpoint_gets_its_best_model_back(tmp_path: Path) -> None:
    recipe = tiny(train={"steps": 2})
    train(recipe, tmp_path / "run")
    before = contents(tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "best")
    train(recipe, tmp_path / "run", resume=True)
    assert contents(tmp_path / "run") == before


def notes(recipe: Recipe, folder: Path) -> tuple[str, ...]:
    """The warnings of a resumed run before its first step."""
    received = Listener()
    train(recipe, folder, resume=True, listener=received)
    (started,) = received.of(Started)
    return tuple(started.notes)


def test_a_missing_best_model_is_reported(tmp_path: Path) -> None:
    """The checkpoint is of a later step than the best one, so best/ cannot be restored from it."""
    recipe = tiny(train={"steps": 6, "validate_every": 2, "checkpoint_every": 1})
    folder = stopped(recipe, tmp_path / "run", step=4)
    shutil.rmtree(folder / "best")
    reported = f"{folder / 'best'}, the best model so far (step 2), is missing"
    assert notes(recipe, folder) == (f"{reported}: last/ is used instead until there is a better one",)


def test_a_missing_average_is_reported_and_never_replaced_by_other_weights(tmp_path: Path) -> None:
    keys = {"metric": "loss", "validate_every": 2, "average": 3, "learning_rate": 0.2, "clip": None, "steps": 20}
    recipe, received = tiny(train=keys), []
    train(recipe, tmp_path / "run")
    assert load_bundle(tmp_path / "run" / "best").manifest.trained["averaged"] == 3
    shutil.rmtree(tmp_path / "run" / "best")
    train(recipe, tmp_path / "run", resume=True, listener=received.append)
    assert not (tmp_path / "run" / "best").exists()
    assert [event.kind for event in received] == ["warning", "finished"]
    assert "the best model so far (step 20), is missing" in received[0].message


def test_resuming_with_other_versions_warns_and_continues(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder, tmp_path / "same")
    assert notes(RECIPE, tmp_path / "same") == ()
    monkeypatch.setattr(regard, "__version__", "9.9")
    monkeypatch.setattr("torch.__version__", "1.2.3")
    (expected,) = notes(RECIPE, folder)
    assert re.fullmatch(
        r"the checkpoint was written with regard \S+ \(now 9\.9\), torch \S+ \(now 1\.2\.3\): "
        r"the run continues, but not with bit-equal weights",
        expected,
    )
    assert equal(weights(folder), weights(tmp_path / "same")), "nothing else was changed"


LINES = [f"{i} {i + 1}\t{i + 1} {i}" for i in range(40)]


@pytest.fixture
def own_data(tmp_path: Path) -> Recipe:
    """Training pairs, development pairs and word links in files."""
    (tmp_path / "train.tsv").write_text("\n".join(LINES) + "\n")
    (tmp_path / "dev.tsv").write_text("\n".join(LINES[:4]) + "\n")
    (tmp_path / "links.txt").write_text("0-1 1-0\n" * len(LINES))
    tables: dict[str, Any] = {
        **TABLES,
        "data": {"kind": "tsv", "train": "train.tsv", "dev": "dev.tsv", "test": "dev.tsv"},
        "train": {**RECIPE.train.model_dump(), "guide": {"weight": 1.0, "links": "links.txt"}},
    }
    return parse_recipe(tables, base=tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("train.tsv", "0 1\t1 0", "0 1\t0 1", "training pairs"),
        ("dev.tsv", "0 1\t1 0", "0 1\tunseen words", "development pairs"),
        ("dev.tsv", "0 1\t1 0\n", "", "development pairs"),
        ("links.txt", "0-1 1-0\n0-1", "0-0 1-1\n0-1", "word links"),
    ],
)
def test_resuming_needs_the_data_that_the_run_was_started_with(
    own_data: Recipe, tmp_path: Path, file: str, old: str, new: str, what: str
) -> None:
    folder = stopped(own_data, tmp_path / "run", 5)
    text = (tmp_path / file).read_text()
    (tmp_path / file).write_text(text.replace(old, new, 1))
    before = contents(folder)
    with pytest.raises(InputError) as caught:
        train(own_data, folder, resume=True)
    assert str(caught.value) == (
        f"the {what} are not those that {folder} was started with: put the old data back, or start a new run with "
        f"--out (train.start_from={folder} starts from its weights)"
    )
    assert contents(folder) == before
    (tmp_path / file).write_text(text)
    assert train(own_data, folder, resume=True).steps == 4


def test_development_pairs_are_compared_by_their_text(own_data: Recipe, tmp_path: Path) -> None:
    """Unknown words have the same id but different scores."""
    (tmp_path / "dev.tsv").write_text("0 1\tunknown\n")
    folder = stopped(own_data, tmp_path / "run", 5)
    (tmp_path / "dev.tsv").write_text("0 1\tunheard\n")
    with pytest.raises(InputError, match="the development pairs are not those"):
        train(own_data, folder, resume=True)


def interleave(monkeypatch: pytest.MonkeyPatch, other: Callable[[], object]) -> None:
    """Run a function while a run prepares its data, between its check of the folder and its lock."""
    prepare, calls = setup.prepare, []

    def prepare_slowly(*given: Any) -> Any:
        if not calls:
            calls.append(1)
            other()
        return prepare(*given)

    monkeypatch.setattr(setup, "prepare", prepare_slowly)


def test_a_second_run_never_erases_one_that_finished_while_it_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, found = tmp_path / "run", {}

    def finish() -> None:
        train(RECIPE, folder)
        found.update(contents(folder))

    interleave(monkeypatch, finish)
    with pytest.raises(InputError, match=r"run exists already: --resume continues that run, --overwrite replaces"):
        train(tiny(train={"steps": 2}), folder)
    assert contents(folder) == found != {}


@pytest.mark.parametrize("options", [{"overwrite": True}, {"resume": True}])
@pytest.mark.parametrize("other", [{"overwrite": True}, {"resume": True}])
def test_a_run_that_another_process_trained_meanwhile_is_neither_replaced_nor_rewound(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, bool], other: dict[str, bool]
) -> None:
    found = {}

    def go_on() -> None:
        train(RECIPE, folder, **other)
        found.update(contents(folder))

    interleave(monkeypatch, go_on)
    with pytest.raises(
        InputError, match=r"another process trained in .*run while this one was starting: check its results there"
    ):
        train(RECIPE, folder, **options)
    assert contents(folder) == found != {}


def test_files_that_appear_meanwhile_are_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "thesis"

    def write() -> None:
        folder.mkdir()
        (folder / "best").write_text("a chapter")

    interleave(monkeypatch, write)
    with pytest.raises(InputError, match="holds files that are not a run, and is left unchanged"):
        train(RECIPE, folder)
    assert contents(folder) == {"best": b"a chapter"}

"""Issue 13, item 1: no bundle and no run folder runs code; a foreign class is loaded where the caller names it."""

import sys
from pathlib import Path

import pytest

import regard
from regard.attention import build_attention
from regard.bundle import BundleError, load_bundle
from regard.text.input_error import InputError
from regard.training.recipe import load_recipe, parse_recipe
from regard.training.run_folder import own_classes
from runtime.foreign import MINE, OWN, forge, write_module

SIZES = {"query_width": 8, "state_width": 8}


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the foreign module, on the path; `imported` and `called` appear there if it is."""
    folder = write_module(tmp_path / "strange")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "strange_mechanism", raising=False)
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The user's own recipe file."""
    path = tmp_path / "mine.toml"
    path.write_text(OWN, encoding="utf-8")
    return path


def untouched(strange: Path) -> bool:
    return not (strange / "imported").exists() and "strange_mechanism" not in sys.modules


def test_a_bundle_s_class_is_not_imported(tmp_path: Path, strange: Path) -> None:
    bundle = forge(tmp_path / "bundle")
    with pytest.raises(BundleError) as refused:
        regard.load(bundle)
    message = str(refused.value)
    assert str(bundle / "manifest.json") in message
    assert f'"{MINE}"' in message
    assert "was not imported" in message
    assert f"--trust {MINE}" in message
    assert f'trust=["{MINE}"]' in message
    assert untouched(strange)


@pytest.mark.parametrize("score", ["os:abort", "pydoc:cli", "pytest:main", "builtins:exec", "regard.cli.main:main"])
def test_a_callable_is_never_called(tmp_path: Path, score: str) -> None:
    bundle = forge(tmp_path / "bundle", score)
    with pytest.raises(BundleError, match="was not imported"):
        load_bundle(bundle)
    with pytest.raises(BundleError, match=r"is not a class of attention modules \(a subclass of torch.nn.Module\)"):
        load_bundle(bundle, trust=[score])


def test_a_trusted_function_is_not_called(tmp_path: Path, strange: Path) -> None:
    with pytest.raises(BundleError, match="not a class of attention modules"):
        regard.load(forge(tmp_path / "bundle", "strange_mechanism:call"), trust=["strange_mechanism:call"])
    assert not (strange / "called").exists()


def test_a_named_class_is_loaded(tmp_path: Path, strange: Path) -> None:
    bundle = forge(tmp_path / "bundle")
    translator = regard.load([bundle, bundle], trust=[MINE])
    assert type(translator.bundle.model.decoder.attention).__name__ == "Mine"
    assert translator.translate("the black cat").source == "the black cat"
    assert (strange / "imported").exists()


@pytest.mark.parametrize("trust", [(), ["strange_mechanism"], ["strange_mechanism:*"], [f"{MINE} "], f"x{MINE}"])
def test_only_the_exact_name_is_trusted(tmp_path: Path, strange: Path, trust: object) -> None:
    with pytest.raises(BundleError, match="was not imported"):
        load_bundle(forge(tmp_path / "bundle"), trust=trust)
    assert untouched(strange)


def test_a_single_name_needs_no_list(tmp_path: Path, strange: Path) -> None:
    assert load_bundle(forge(tmp_path / "bundle"), trust=MINE).model.parameters_count


@pytest.mark.parametrize("score", [":Thing", "os:", "..os:abort", "a b:C", "x:y; rm -rf ~", "x:\x1b[2J", "a:b:c", ":"])
def test_invalid_class_names_are_refused(score: str) -> None:
    with pytest.raises(ValueError, match=r"expected package\.module:Class") as refused:
        build_attention(score, **SIZES, trust=[score])
    assert "--trust" not in str(refused.value)


def test_nothing_is_trusted_by_default() -> None:
    with pytest.raises(ValueError, match="was not imported"):
        build_attention("torch.nn:Identity", **SIZES)


def test_a_module_that_breaks_on_import_is_one_message(tmp_path: Path, strange: Path) -> None:
    (strange / "broken_mechanism.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"cannot be imported \(ZeroDivisionError: division by zero\)"):
        build_attention("broken_mechanism:Mine", **SIZES, trust=["broken_mechanism:Mine"])


def test_the_users_own_recipe_may_name_a_class(own: Path, tmp_path: Path, strange: Path) -> None:
    regard.train(own, tmp_path / "run")
    assert (strange / "imported").exists()
    with pytest.raises(BundleError, match="was not imported"):
        regard.load(tmp_path / "run")
    assert regard.load(tmp_path / "run", trust=[MINE]).bundle.model.config.score == MINE


def test_a_resumed_run_imports_only_the_recipes_class(own: Path, tmp_path: Path, strange: Path) -> None:
    folder = tmp_path / "run"
    regard.train(own, folder)
    regard.train(own, folder, resume=True)  # the same class, named by the user's own file
    plain = tmp_path / "plain.toml"
    plain.write_text(OWN.replace(f'score = "{MINE}"\n', ""), encoding="utf-8")
    regard.train(plain, tmp_path / "plain")
    (strange / "imported").unlink()
    sys.modules.pop("strange_mechanism")
    # Somebody put another checkpoint into the run: the recipe does not name its class.
    (tmp_path / "plain" / "last").rename(tmp_path / "away")
    (folder / "last").rename(tmp_path / "plain" / "last")
    with pytest.raises(BundleError, match="was not imported"):
        regard.train(plain, tmp_path / "plain", resume=True)
    assert untouched(strange)


def test_a_run_does_not_start_from_a_foreign_class(own: Path, tmp_path: Path, strange: Path) -> None:
    plain = tmp_path / "plain.toml"
    start = f'start_from = "{forge(tmp_path / "bundle")}"\n'
    plain.write_text(OWN.replace(f'score = "{MINE}"\n', "") + start, encoding="utf-8")
    with pytest.raises(BundleError, match="was not imported"):
        regard.train(plain, tmp_path / "run")
    assert untouched(strange)
    assert not (tmp_path / "run").exists()


def test_a_recipe_object_may_not_name_a_class(own: Path, tmp_path: Path, strange: Path) -> None:
    recipe = parse_recipe(load_recipe(own).model_dump(mode="json"))  # as it is read from a manifest or a run folder
    with pytest.raises(InputError, match="was not imported"):
        regard.train(recipe, tmp_path / "run")
    assert untouched(strange)
    assert regard.train(recipe, tmp_path / "run", trust=[MINE]).progress.step == 2


def test_a_recipe_file_in_a_run_or_bundle_is_foreign(own: Path, tmp_path: Path, strange: Path) -> None:
    recipe = load_recipe(own)
    assert own_classes([recipe], own) == (MINE,)
    bundle = forge(tmp_path / "bundle")
    inside = bundle / "more" / "recipe.toml"
    inside.parent.mkdir()
    inside.write_text(OWN, encoding="utf-8")
    assert own_classes([recipe], inside) == ()
    run = tmp_path / "run"
    run.mkdir()
    (run / "recipe.json").write_text(recipe.model_dump_json(), encoding="utf-8")
    (run / "again.toml").write_text(OWN, encoding="utf-8")
    assert own_classes([recipe], run / "again.toml") == ()
    link = tmp_path / "link.toml"
    link.symlink_to(inside)
    assert own_classes([recipe], link) == (), "a link does not make it the user's own"
    with pytest.raises(InputError, match="was not imported"):
        regard.train(inside, tmp_path / "out")
    assert untouched(strange)
    assert regard.train(inside, tmp_path / "out", trust=[MINE]).progress.step == 2


def test_unrelated_files_do_not_make_a_folder_foreign(own: Path) -> None:
    for name in ("recipe.json", "manifest.json"):
        (own.parent / name).write_text('{"name": "an extension of a browser"}', encoding="utf-8")
    assert own_classes([load_recipe(own)], own) == (MINE,)

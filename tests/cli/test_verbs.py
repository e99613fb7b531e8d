"""`regard evaluate`, `info`, `models`, `export int8`, `plot`, `explain`, `doctor` and `demo`."""

import json
import shutil
from pathlib import Path

import pytest

from regard.bundle import find_bundle, load_bundle
from regard.bundle.find import pretrained_names
from regard.lab import run_demo as demo_module

from .conftest import Command, Outcome

PNG = b"\x89PNG"


class TestEvaluate:
    def test_the_test_split_of_the_recipe(self, command: Command, run_folder: Path) -> None:
        outcome = command("evaluate", run_folder)
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.startswith(f"{run_folder} on its test set, 60 sentences:\n")
        for part in ("exact match", "alignment error rate", "BLEU", "tok:13a", "chrF", "source words", "1–5", "6–10"):
            assert part in outcome.out
        assert "\x1b" not in outcome.out

    def test_another_split(self, command: Command, run_folder: Path) -> None:
        outcome = command("evaluate", run_folder, "--split", "dev")
        assert outcome.out.startswith(f"{run_folder} on its dev set, ")
        assert " 60 sentences" not in outcome.out

    def test_scores_as_json(self, command: Command, run_folder: Path) -> None:
        scores = json.loads(command("evaluate", run_folder, "--json", "--beam", 2).out)
        assert scores["sentences"] == 60
        assert scores["exact_match"] > 0.9
        assert scores["aer"] < 0.2
        assert len(scores["by_length"]) == 2
        assert set(scores["by_length"][0]) >= {"shortest", "longest", "sentences", "bleu", "chrf", "exact_match", "aer"}

    def test_a_users_own_pairs(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        data = tmp_path / "own.tsv"
        data.write_text("3 4 5\t5 4 3\n\t\n6 7 8\t8 7 9\n", encoding="utf-8")
        outcome = command("evaluate", run_folder, data, "--html", tmp_path / "report.html")
        assert outcome.code == 0
        assert "exact match           50.0%" in outcome.out
        assert "alignment error rate" not in outcome.out
        assert "1 line was left out, a side is blank (first: line 2)" in outcome.err
        assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")

    def test_parallel_files_with_gold_links(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        for name, text in (("s", "3 4 5\n"), ("t", "5 4 3\n"), ("l", "0-2 1-1 2-0\n")):
            (tmp_path / name).write_text(text, encoding="utf-8")
        files = ["--source", tmp_path / "s", "--target", tmp_path / "t"]
        assert json.loads(command("evaluate", run_folder, *files, "--json").out)["aer"] is None
        scores = json.loads(command("evaluate", run_folder, *files, "--links", tmp_path / "l", "--json").out)
        assert scores["aer"] == pytest.approx(0)

    def test_a_model_without_attention(self, command: Command, vanilla: Path, tmp_path: Path) -> None:
        for name, text in (("s", "the cat\n"), ("t", "le chat\n"), ("l", "0-0 1-1\n")):
            (tmp_path / name).write_text(text, encoding="utf-8")
        files = ["--source", tmp_path / "s", "--target", tmp_path / "t", "--links", tmp_path / "l"]
        outcome = command("evaluate", vanilla, *files)
        assert outcome.code == 0
        assert "no alignment error rate: one fixed vector, no alignment exists" in outcome.out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--source", "x"], "give --source and --target together"),
            (["--links", "x"], "give --source and --target together; --links needs both"),
            (["x.tsv", "--source", "x", "--target", "y"], "x.tsv and --source were both given"),
            (["x.tsv", "--split", "dev"], "x.tsv and --split were both given"),
            (["--split", "test_2017"], "there is no split 'test_2017': its recipe has train, dev and test"),
            (["--tokenize", "nonsense"], "sacrebleu has no tokenizer 'nonsense': did you mean 'none'"),
        ],
        ids=["source alone", "links alone", "two corpora", "file and split", "no such split", "tokenizer"],
    )
    def test_wrong_options(self, command: Command, run_folder: Path, arguments: list[str], message: str) -> None:
        outcome = command("evaluate", run_folder, *arguments)
        assert outcome.code == 2
        assert message in outcome.complaint

    def test_a_bundle_without_a_recipe(self, command: Command, vanilla: Path) -> None:
        outcome = command("evaluate", vanilla)
        assert outcome.code == 2
        assert outcome.complaint == f"{vanilla} has no recipe: name the data to use"


class TestInfo:
    def test_info_describes_a_bundle(self, command: Command, run_folder: Path) -> None:
        out = command("info", run_folder).out
        assert "model       GRU, 1 × 32 bidirectional encoder" in out
        assert "about       Reverse short sequences." in out
        assert "reads       up to 20 pieces\n" in out
        assert "data        reverse, " in out
        manifest = json.loads(command("info", run_folder, "--json").out)
        assert len(manifest["files"]["model.safetensors"]["sha256"]) == 64

    def test_every_architecture(self, command: Command, vanilla: Path, transformer: Path) -> None:
        assert "no attention: one fixed vector" in command("info", vanilla).out
        assert "Transformer, 1 + 2 layers, width 8, 2 heads" in command("info", transformer).out


class TestPlot:
    def test_sentences_as_a_picture_or_a_page(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        for name, begins in (("a.png", PNG), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF"), ("a.html", b"<!doctype html>")):
            path = tmp_path / name
            outcome = command("plot", run_folder, "3 4 5", "6 7 8", "--out", path)
            assert outcome == Outcome(0, f"{path}\n", "regard: 3 4 5 → 5 4 3\nregard: 6 7 8 → 8 7 6\n")
            assert path.read_bytes().startswith(begins)

    def test_the_loss_curve_of_a_run(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        for folder in (run_folder, run_folder / "best"):
            assert command("plot", folder, "--out", tmp_path / "curve.png").code == 0
            assert (tmp_path / "curve.png").read_bytes().startswith(PNG)

    def test_a_forced_target_words_layers_and_heads(self, command: Command, transformer: Path, tmp_path: Path) -> None:
        path = tmp_path / "forced.png"
        options = ["--target", "le zèbre", "--words", "--layer", "1", "--head", "0", "--out", path]
        outcome = command("plot", transformer, "the cat", *options)
        assert outcome.code == 0
        assert "the cat → le zèbre" in outcome.err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["3 4", "--out", "x.jpg"], "x.jpg ends in .jpg; expected .png, .svg, .pdf or .html"),
            (["--out", "x.html"], "x.html ends in .html; expected .png, .svg or .pdf"),
            (["3 4", "5 6", "--target", "4 3"], "--target forces one translation, but 2 sentences were given"),
            (["3 4", "--layer", "3"], "there is no layer 3: this attention has 1"),
        ],
        ids=["ending", "a curve as a page", "two sentences", "layer"],
    )
    def test_wrong_options(self, command: Command, run_folder: Path, arguments: list[str], message: str) -> None:
        outcome = command("plot", run_folder, *arguments)
        assert outcome.code == 2
        assert message in outcome.complaint

    def test_a_model_without_attention(self, command: Command, vanilla: Path, tmp_path: Path) -> None:
        outcome = command("plot", vanilla, "the cat", "--out", tmp_path / "x.png")
        assert outcome.code == 2
        assert "one fixed vector, no alignment exists" in outcome.err
        assert command("plot", vanilla, "the cat", "--out", tmp_path / "x.html").code == 0

    def test_nothing_to_draw(self, command: Command, run_folder: Path, vanilla: Path, tmp_path: Path) -> None:
        nowhere = command("plot", run_folder.with_name("nowhere"), "--out", tmp_path / "x.png")
        assert nowhere.complaint.startswith(f"no bundle at {run_folder.with_name('nowhere')}: there is no such folder")
        blank = command("plot", run_folder, " ", "--out", tmp_path / "x.png")
        assert (blank.code, blank.err.splitlines()[-1]) == (
            2, "regard: nothing to draw: the given texts have no words"
        )  # fmt: skip
        assert "no curve to draw" in command("plot", vanilla, "--out", tmp_path / "x.png").complaint


class TestExplain:
    def test_a_mechanism_worked_and_drawn(self, command: Command, tmp_path: Path) -> None:
        picture = tmp_path / "local-p.png"
        outcome = command("explain", "local-p", "--plot", picture)
        assert outcome.code == 0
        assert "gauss" in outcome.out
        assert outcome.err == f"regard: drawn: {picture}\n"
        assert picture.read_bytes().startswith(PNG)

    def test_the_list_and_wrong_names(self, command: Command, tmp_path: Path) -> None:
        assert "multi-head" in command("explain").out
        wrong = command("explain", "bahdnau")
        assert wrong.code == 2
        assert "did you mean 'bahdanau'?" in wrong.complaint
        assert command("explain", "--plot", tmp_path / "x.png").complaint == (
            "--plot and --walk are about one mechanism: name it"
        )
        assert "expected .png, .svg or .pdf" in command("explain", "dot", "--plot", tmp_path / "x.gif").complaint


class TestDoctor:
    def test_exit_codes_of_findings(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        assert command("doctor").code == 0
        assert command("doctor", run_folder).code == 0
        wrong = command("doctor", tmp_path)
        assert wrong.code == 1
        assert wrong.out.startswith("✗ no bundle and no corpus in")


class TestModels:
    def test_the_list_and_one_card(self, command: Command) -> None:
        listed = command("models")
        assert listed.out.splitlines()[0].split() == ["name", "direction", "size", "score", "licence"]
        assert [line.split()[0] for line in listed.out.splitlines()[1:]] == pretrained_names()
        card = command("models", "demo-en-hi").out
        assert card.startswith("demo-en-hi: ")
        assert "known fault" in card
        found = json.loads(command("models", "demo-en-fr", "--json").out)["demo-en-fr"]
        assert found["bytes"] < 2e6
        assert found["direction"] == "English → French"

    def test_an_unknown_name(self, command: Command) -> None:
        names = f"names are {', '.join(pretrained_names())}"
        wrong = command("models", "demo-en-rf").complaint
        assert wrong == f"no model 'demo-en-rf' in the package: did you mean 'demo-en-fr'? Valid {names}"
        far = command("models", "WRONG").complaint
        assert far == f"no model 'WRONG' in the package: valid {names}"


class TestExportInt8:
    def test_an_int8_bundle_translates(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        outcome = command("export", "int8", run_folder, "--out", tmp_path / "small")
        assert outcome.code == 0
        assert load_bundle(tmp_path / "small").manifest.stored == "int8"
        assert command("translate", tmp_path / "small", "3 4 5").code == 0
        assert command("export", "int8", run_folder, "--out", tmp_path / "small").code == 0, "an export is replaced"

    def test_refusals(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        shutil.copytree(find_bundle(run_folder), tmp_path / "bundle")
        over = command("export", "int8", run_folder, "--out", tmp_path / "bundle").complaint
        assert over.endswith("this folder holds a bundle, which would be lost: name another folder")
        for content, what in (
            ('{"format": "regard-onnx"}', "an ONNX export"),
            ('{"manifest_version": 3}', "a manifest.json that regard cannot read"),
            ("{", "a manifest.json that regard cannot read"),
        ):
            (tmp_path / "bundle" / "manifest.json").write_text(content, encoding="utf-8")
            over = command("export", "int8", run_folder, "--out", tmp_path / "bundle").complaint
            assert over.startswith(f"cannot write {tmp_path / 'bundle'}: this folder holds {what}, which would be lost")
            assert over.endswith(": name another folder")
        wrong = command("export", "intt8", run_folder, "--out", tmp_path / "x").complaint
        assert wrong == "there is no format 'intt8': did you mean 'int8'?"


@pytest.mark.parametrize(
    ("kind", "option", "only"),
    [
        ("web", ["--int8"], "onnx"),
        ("int8", ["--int8"], "onnx"),
        ("web", ["--trace"], "onnx"),
        ("int8", ["--trace"], "onnx"),
        ("onnx", ["--trust", "mine:Score"], "int8"),
        ("web", ["--trust", "mine:Score"], "int8"),
    ],
)
def test_an_export_refuses_an_option_without_effect(
    command: Command, run_folder: Path, tmp_path: Path, kind: str, option: list[str], only: str
) -> None:
    outcome = command("export", kind, run_folder, "--out", tmp_path / "x", *option)
    assert outcome.code == 2
    assert outcome.complaint == f"{option[0]} has no effect on the format {kind}, only on {only}: leave it out"
    assert not (tmp_path / "x").exists()


class TestDemo:
    def test_wrong_pairs_and_folders(self, command: Command, run_folder: Path) -> None:
        assert "no phrasebook 'en-de': valid choices are en-fr, fr-en, en-hi" in command("demo", "--pair", "en-de").err
        outcome = command("demo", "--out", run_folder)
        assert outcome.code == 2
        assert "holds a run that `regard demo` did not make" in outcome.err
        assert "Replaces an earlier demo there" in " ".join(command("demo", "--help").out.split())

    @pytest.mark.slow
    def test_the_output_of_the_demo(self, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        short = ["data.train=60", "data.dev=5", "train.steps=3", "train.validate_every=3", "train.validate_sentences=5"]
        load_recipe = demo_module.load_recipe
        monkeypatch.setattr(demo_module, "load_recipe", lambda name, changes: load_recipe(name, [*changes, *short]))
        monkeypatch.setattr(demo_module, "SENTENCES", 5)
        monkeypatch.setattr(demo_module, "SAMPLE", 1)
        outcome = command("demo", "--out", tmp_path / "demo")
        assert outcome.code == 0
        package, _, own = outcome.out.partition("Now a new model is trained")
        assert package.startswith(
            "en-fr, a model of the package: Where have you hidden my car keys?  →  Où as-tu caché"
        )
        assert "rows: written, columns: read" in package
        assert "\nThe black cat sat on the mat.  →  " in own
        for part in (
            "rows: written, columns: read", "✗  expected: je t'aime", "5 sentences that the model never saw:",
            "41–60*", "* longer than any training sentence", "report.html", "--walk",
        ):  # fmt: skip
            assert part in outcome.out
        assert "\x1b" not in outcome.out

"""`regard align`: links on stdout, messages on stderr, both formats, both bases, scores, bad input."""

import json
import re
from pathlib import Path

import pytest

from regard.cli.main import build_command
from regard.lab.align_settings import AlignOptions

from .conftest import Command

TSV = "3 4 5\t5 4 3\n\n6 7 8\t8 7 6\n"
LINKS = "0-2 1-1 2-0\n\n0-2 1-1 2-0\n"
CUT = "1 pair longer than the model reads: the last words have no links (--set longest_source=N reads more)"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(TSV, encoding="utf-8")
    return path


def test_align_has_at_most_16_options() -> None:
    """Settings that a settings file can hold are keys of --set, not options."""
    _, align = build_command("align")
    assert len([one for one in align.params if one.param_type_name == "option"]) <= 16


def test_one_line_a_pair_blank_lines_kept(command: Command, run_folder: Path, data: Path) -> None:
    outcome = command("align", run_folder, data)
    assert (outcome.code, outcome.out) == (0, LINKS)
    assert "regard: 1 pair with a blank side: no links" in outcome.err
    assert "3 pairs, forward links, source-target, words counted from 0" in outcome.err


def test_formats_and_bases(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    assert command("align", run_folder, data, "--set", "base=1").out == "1-3 2-2 3-1\n\n1-3 2-2 3-1\n"
    naacl = command("align", run_folder, data, "--set", "format=naacl")
    assert naacl.out == "1 1 3 S\n1 2 2 S\n1 3 1 S\n3 1 3 S\n3 2 2 S\n3 3 1 S\n"
    assert "words counted from 1" in naacl.err
    path = tmp_path / "out.align"
    written = command("align", run_folder, data, "--output", path)
    assert (written.out, path.read_text(encoding="utf-8")) == ("", LINKS)
    assert f"{path}: 3 pairs" in written.err


def test_translating_first(command: Command, run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("3 4 5\n", encoding="utf-8")
    assert command("align", run_folder, "--source", tmp_path / "in").out == "5 4 3\t0-2 1-1 2-0\n"


def test_two_directions_and_gold(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("0-2 1-1 2-0\n\n0-2 1-1 2?1\n", encoding="utf-8")
    outcome = command(
        "align",
        run_folder,
        data,
        "--reverse",
        run_folder,
        "--set",
        "symmetrise=intersection",
        "--gold",
        tmp_path / "gold",
    )
    assert (outcome.code, outcome.out) == (0, LINKS)
    for name in ("forward", "backward", "intersection *", "union", "grow-diag", "grow-diag-final-and"):
        assert any(line.startswith(name) for line in outcome.err.splitlines())
    # 6 links, 5 of them possible, 5 sure and all found: AER = 1 - (5 + 5) / (6 + 5).
    assert ["forward", "0.091", "0.833", "1.000", "6", "5"] in [line.split() for line in outcome.err.splitlines()]


def test_two_directions_are_tuned_together(command: Command, run_folder: Path) -> None:
    outcome = command("align", run_folder, "--reverse", run_folder, "--tune")
    assert outcome.code == 0
    (together,) = (line for line in outcome.err.splitlines() if "tuned together: " in line)
    method = together.split("tuned together: ")[1].split(" of ")[0]
    lines = [line.split() for line in outcome.err.splitlines()]
    (forward,) = (float(line[1]) for line in lines if line[:1] == ["forward"] and len(line) == 6)
    (chosen,) = (float(line[2]) for line in lines if line[:2] == [method, "*"])  # what was best is what was written
    assert chosen <= forward + 0.02
    found = json.loads(command("align", run_folder, "--reverse", run_folder, "--tune", "--json").out)
    assert f"AER {found['development']:.3f} on the development set" in together


def test_json_holds_scores_rules_and_entropy(command: Command, run_folder: Path) -> None:
    outcome = command("align", run_folder, "--tune", "--set", "entropy=true", "--json")
    found = json.loads(outcome.out)
    assert found["pairs"] == 60
    assert found["scores"]["forward"]["aer"] < 0.2
    assert set(found["tuned"]["forward"]["by_shift"]) == {"-1", "0", "1"}
    shown = command("align", run_folder, "--tune", "--set", "entropy=true")
    assert "forward, tuned: shift=0" in shown.err
    assert "entropy of attention:" in shown.err


def test_json_beside_a_file_of_links(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    outcome = command("align", run_folder, data, "--json", "--output", tmp_path / "links")
    assert json.loads(outcome.out)["links"] == 6
    assert (tmp_path / "links").read_text(encoding="utf-8") == LINKS


def test_a_page(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert command("align", run_folder, data, "--html", page).err.endswith(f"written: {page}, 2 pairs\n")
    assert "0-2 1-1 2-0" in page.read_text(encoding="utf-8")


def test_a_transformer_gets_a_hint_to_tune(command: Command, transformer: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("the cat\tle chat\n", encoding="utf-8")
    plain = command("align", transformer, tmp_path / "in")
    assert "the mean of 2 layers × 2 heads was used" in plain.err
    assert "--tune finds it" in plain.err
    assert "mean of" not in command("align", transformer, tmp_path / "in", "--set", "heads=1.*").err


def test_tuned_settings_apply_to_other_text(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    both = ("align", run_folder, "--reverse", run_folder)
    tuned = command(*both, "--tune", "--set", "posterior=tune", "--save-settings", path)
    assert (tuned.code, f"written: {path}; use it with --settings {path}" in tuned.err) == (0, True)
    assert "is the best of 11 posteriors: AER " in tuned.err
    requested = json.loads(path.read_text("utf-8")).get("posterior")
    options = "" if requested is None else f"posterior={requested['prior']:g} evidence={requested['evidence']} "
    assert f"forward, tuned: {options}shift=" in tuned.err
    bayes = command("align", run_folder, "--tune", "--set", "posterior=1", "--set", "evidence=word")
    assert "forward, tuned: posterior=1 evidence=word shift" in bayes.err
    again = command(*both, "--settings", path)
    assert (again.code, again.out) == (0, tuned.out)
    assert "tuned" not in again.err.replace("tuned.json", "")
    other = command(*both, data, "--settings", path)
    assert (other.code, other.out) == (0, LINKS)
    before = path.read_bytes()
    assert command(*both, "--settings", path, "--save-settings", path).code == 2
    for option, named in (("--tune", "--tune"), ("--set=shift=0", "shift"), ("--set=symmetrise=union", "symmetrise")):
        refused = command(*both, "--settings", path, option)
        expected = f"--settings {path} already sets how links are extracted: leave {named} out"
        assert (refused.code, refused.complaint) == (2, expected)
    assert path.read_bytes() == before


def test_unwritable_outputs_are_refused_before_aligning(
    command: Command, run_folder: Path, data: Path, tmp_path: Path
) -> None:
    for option in ("--output", "--html", "--save-settings"):
        folder = command("align", run_folder, data, option, tmp_path)
        assert (folder.code, folder.complaint) == (2, f"{option}: {tmp_path} is a folder; name a file in it")
        inside = command("align", run_folder, data, option, data / "deep" / "x")
        assert (inside.code, "a part of this path is a file, not a folder" in inside.complaint) == (2, True)
        long = command("align", run_folder, data, option, tmp_path / ("x" * 300))
        assert (long.code, "the name is too long" in long.complaint) == (2, True)


def test_a_very_long_line_is_skipped_and_the_others_are_aligned(
    command: Command, run_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text(f"3 4 5\t5 4 3\n3 4 5\t{'3 ' * 400_000}\n\u200b\t4\n", encoding="utf-8")
    for way in (None, "intersection", "product"):
        both = [] if way is None else ["--reverse", run_folder, "--set", f"symmetrise={way}"]
        outcome = command("align", run_folder, tmp_path / "in", *both)
        assert (outcome.code, outcome.out) == (0, "0-2 1-1 2-0\n\n\n")
        assert (
            "regard: 2 pairs without a word, or with more than 1,048,576 source × target pieces: skipped" in outcome.err
        )


def test_a_split_without_a_name_is_not_the_test_set(command: Command, run_folder: Path) -> None:
    assert "there is no split ''" in command("align", run_folder, "--split", "").complaint


def test_longest_source_sets_how_much_is_read(command: Command, run_folder: Path, tmp_path: Path) -> None:
    words = [str(3 + number % 9) for number in range(30)]  # training was shown 20
    (tmp_path / "long").write_text(f"{' '.join(words)}\t{' '.join(reversed(words))}\n", encoding="utf-8")
    short = command("align", run_folder, tmp_path / "long")
    assert CUT in short.err
    assert max(int(link.split("-")[0]) for link in short.out.split()) < 20
    for more in ([], ["--reverse", run_folder]):
        long = command("align", run_folder, tmp_path / "long", "--set", "longest_source=30", *more)
        assert (long.code, "longer than" in long.err) == (0, False)
    refused = command("align", run_folder, tmp_path / "long", "--set", "longest_source=0")
    assert (refused.code, refused.complaint) == (2, "--set: longest_source = '0': expected at least 1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "posterior=tune"], "posterior=tune is chosen on a development set: add --tune, or give a number"),
        (["--set", "posterior=1", "--set", "evidence=all"], "--set: evidence = 'all': valid choices are state, word"),
        (["--set", "posterior=much"], "--set: posterior = 'much': expected a number"),
        (["--split", "dev"], "pairs.tsv and --split were both given: leave one of them out"),
        (["--settings", "nowhere"], "no file nowhere"),
        (["--words", "tokens"], "'tokens' is not one of 'model', 'spaces'"),
        (["--set", "format=giza"], "--set: format = 'giza': valid choices are pharaoh, naacl"),
        (["--set", "base=2"], "--set: base = '2': expected at most 1"),
        (["--set", "method=threshold"], "method 'threshold' needs a threshold, for instance 0.2"),
        (["--set", "threshold=7"], "--set: threshold = '7': expected at most 1"),
        (["--gold", "nowhere"], "no file nowhere"),
        (["--gold", "."], ". is a folder, expected a file"),
        (["--set", "shift=9"], "shift 9: links are in the row before"),
        (["--set", "heads=3.1"], "--set heads=3.1: there is no head 3.1: this model has layers 0 to 0, heads 0 to 0"),
        (["--set", "symmetrise=union"], "symmetrise needs two directions"),
    ],
)
def test_bad_input(command: Command, run_folder: Path, data: Path, options: list[str], message: str) -> None:
    outcome = command("align", run_folder, data, *options)
    assert outcome.code == 2
    assert message in outcome.complaint


def test_an_input_is_never_overwritten(command: Command, run_folder: Path, data: Path) -> None:
    before = data.read_bytes()
    for option in ("--output", "--html"):
        outcome = command("align", run_folder, data, option, data)
        assert (outcome.code, outcome.err) == (2, f"regard: {option} {data} is also an input: name another file\n")
    assert data.read_bytes() == before


def test_one_file_is_not_written_twice(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    outcome = command("align", run_folder, data, "--output", tmp_path / "x", "--html", tmp_path / "x")
    assert outcome.code == 2
    assert f"--output and --html name the same file, {tmp_path / 'x'}: name two" in outcome.complaint
    assert command("align", run_folder, data, "--output", "/dev/null", "--html", "/dev/null").code == 0
    assert command("translate", run_folder, "3 4", "--output", tmp_path / "x", "--html", tmp_path / "x").code == 2


def test_options_that_tuning_finds_are_refused_with_tune(command: Command, run_folder: Path) -> None:
    outcome = command("align", run_folder, "--tune", "--set", "shift=0", "--set", "threshold=0.3")
    assert outcome.code == 2
    assert outcome.complaint == "--tune finds shift, threshold itself: leave --tune or shift, threshold out"


def test_gold_that_counts_from_1(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("1-3 2-2 3-1\n\n1-3\n", encoding="utf-8")
    outcome = command("align", run_folder, data, "--gold", tmp_path / "gold")
    assert outcome.code == 2
    assert "read them with index base 1 (read with gold_base = 0 " in outcome.complaint
    assert command("align", run_folder, data, "--gold", tmp_path / "gold", "--set", "gold_base=1").code == 0


def test_flipped_gold_links(command: Command, run_folder: Path, tmp_path: Path) -> None:
    for name, text in (("s", "3 4 5\n"), ("t", "5 4\n"), ("gold", "0-0 2-1\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = ["--source", tmp_path / "s", "--target", tmp_path / "t", "--gold", tmp_path / "gold"]
    assert command("align", run_folder, *files).code == 0
    assert "flip_gold = true" in command("align", run_folder, *files, "--set", "flip_gold=true").complaint


def test_a_pair_that_is_cut_in_both_directions_is_one_pair(command: Command, run_folder: Path, tmp_path: Path) -> None:
    long = " ".join(["3"] * 25)  # the model reads 20 pieces
    (tmp_path / "pairs.tsv").write_text(f"{long}\t{long}\n3 4 5\t5 4 3\n", encoding="utf-8")
    both = ("align", run_folder, tmp_path / "pairs.tsv", "--reverse", run_folder)
    for how in ("union", "product"):
        assert f"regard: {CUT}\n" in command(*both, "--set", f"symmetrise={how}").err


def test_help_explains_every_key_of_set(command: Command) -> None:
    about = command("align", "--help").out.partition("Keys of --set:")[2].partition("Examples:")[0]
    named = set(re.findall(r"^    (\w+)=|(dev_\w+)", about, flags=re.MULTILINE))
    assert {one or other for one, other in named} == set(AlignOptions.model_fields)


def test_no_attention(command: Command, vanilla: Path, data: Path) -> None:
    outcome = command("align", vanilla, data)
    assert outcome.code == 2
    assert "one fixed vector, no alignment exists" in outcome.complaint

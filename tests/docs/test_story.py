"""The story is true: numbers recomputed from the pages' own text, pictures redrawn, links followed, commands tried."""

import json
import re
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from regard.attention.additive.reference import additive
from regard.attention.multiplicative.reference import concat, dot
from regard.attention.worked import global_view
from regard.cli.main import VERBS, run
from regard.course.catalogue import entries
from regard.lab import explanation as explained
from regard.training.recipe import load_recipe

ROOT = Path(__file__).parents[2]
STORY = ROOT / "docs" / "story"
PICTURES = STORY / "pictures"
PAGES = sorted(STORY.glob("*.md"))
SVG = "{http://www.w3.org/2000/svg}"
WORDS = ("turn", "off", "the", "lights")
Table = dict[str, list[float]]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text_of(name: str) -> str:
    return (STORY / name).read_text(encoding="utf-8")


def as_number(cell: str) -> float:
    return float(cell.replace("−", "-").replace("%", "").strip())


def tables(text: str) -> dict[str, Table]:
    """Every table of a page by its first heading; each row by its first cell, the rest as numbers, blanks left out."""
    found: dict[str, Table] = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
        assert head[0] not in found, f"two tables begin with {head[0]!r}"
        found[head[0]] = {row[0]: [as_number(cell) for cell in row[1:] if cell] for row in rows}
    return found


@cache
def worked() -> dict[str, Table]:
    return tables(text_of("03-one-step.md"))


def inputs() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Query, states, W and v as the page shows them."""
    state = list(worked()["state"].values())
    network = np.array(list(worked()["W"].values()))
    return np.array(state[4]), np.array(state[:4]), network[:, :8], network[:, 8]


def rows(name: str) -> np.ndarray:
    return np.array(list(worked()[name].values()))


def printed(values: np.ndarray, digits: int = 4) -> np.ndarray:
    return np.round(values, digits) + 0.0


def test_the_worked_example_begins_with_the_numbers_of_regard_explain() -> None:
    s, h, W, v = inputs()
    assert np.array_equal(s, explained.QUERY[0])
    assert np.array_equal(h, explained.STATES[:4])
    assert np.array_equal(W, np.hstack([explained.W_S, explained.W_H]))
    assert np.array_equal(v, explained.V)


def test_every_table_of_the_worked_example_follows_from_its_inputs() -> None:
    s, h, W, v = inputs()
    matrix = np.array([np.concatenate([s, h_j]) for h_j in h])
    assert matrix.shape == (4, 8)
    before = matrix @ W.T
    hidden = np.tanh(before)
    scores = hidden @ v
    weights = np.exp(scores) / np.exp(scores).sum()
    shares = weights[:, None] * h
    softmax = np.column_stack([scores, np.exp(scores), weights])
    wanted = {
        "[s₀; hⱼ]": printed(matrix, 1),
        "before tanh": printed(before, 2),
        "tanh": printed(hidden),
        "part": printed(np.vstack([W[:, :4] @ s, h @ W[:, 4:].T]), 2),
        "α × h": printed(np.vstack([shares, shares.sum(axis=0)])),
    }
    for name, numbers in wanted.items():
        assert np.array_equal(rows(name), numbers), name
    *each, total = worked()["word"].values()
    assert np.array_equal(np.array(each), printed(softmax))
    assert total == [round(float(np.exp(scores).sum()), 4), 1.0]
    assert set(worked()) == {*wanted, "state", "W", "word"}, "a table that nothing checks"


def test_the_references_agree_with_the_4_by_8_matrix() -> None:
    s, h, W, v = inputs()
    view = global_view(np.ones(4, dtype=bool), 1)
    added = additive(s[None], h, view, W_s=W[:, :4], W_h=W[:, 4:], v=v)
    joined = concat(s[None], h, view, W_a=W, v=v)
    page = np.array([worked()["word"][word] for word in WORDS])
    for found in (added, joined):
        assert np.array_equal(printed(found.scores[0]), page[:, 0])
        assert np.array_equal(printed(found.weights[0]), page[:, 2])
        assert np.array_equal(printed(found.context[0]), np.array(worked()["α × h"]["c₁"]))
    np.testing.assert_allclose(added.scores, joined.scores, rtol=1e-12)


def test_every_number_of_the_worked_example_is_in_a_table_or_a_sum() -> None:
    text = re.sub(r"^\|.*$", "", text_of("03-one-step.md"), flags=re.MULTILINE)
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert not re.findall(r"\d+\.\d+", text)


def sums(text: str) -> list[tuple[str, str]]:
    """Lines in fenced blocks that are nothing but arithmetic: the left side and the right."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    found = [re.fullmatch(r"([\d.+×/()− ]+) = (−?[\d.]+)", line) for line in lines]
    return [(one.group(1), one.group(2)) for one in found if one]


def test_sums_add_up() -> None:
    found = [one for page in PAGES for one in sums(page.read_text(encoding="utf-8"))]
    assert len(found) == 6
    for left, right in found:
        value = eval(left.replace("×", "*").replace("−", "-"))
        digits = len(right.partition(".")[2])
        # Factors are shown rounded, so the last digit may be off by less than one.
        assert abs(value - as_number(right)) < 10.0**-digits, left


def cell(page: str) -> dict[str, Any]:
    """What the page's cell leaves behind."""
    (code,) = re.findall(r"```python\n(.*?)```", text_of(page), flags=re.DOTALL)
    found: dict[str, Any] = {}
    exec(compile(code, page, "exec", dont_inherit=True), found)
    return found


@pytest.mark.parametrize("page", PAGES[:-1], ids=lambda page: page.name)
def test_every_page_has_a_cell_that_runs_and_prints(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell(page.name)
    assert capsys.readouterr().out or page.name == "04-luong.md"


def test_the_fixed_vector_keeps_less_of_longer_sentences() -> None:
    kept = cell("01-bottleneck.md")["kept"]
    assert kept[0] > 0.999
    assert 0.15 < kept[3] < 0.25
    assert kept == sorted(kept, reverse=True)


def test_the_cell_of_one_step_gives_the_numbers_of_the_page() -> None:
    found = cell("03-one-step.md")
    assert np.array_equal(printed(found["weights"]), np.array([worked()["word"][word][2] for word in WORDS]))
    assert np.array_equal(printed(found["context"]), np.array(worked()["α × h"]["c₁"]))


def test_masking_before_the_softmax_keeps_the_sum_and_order_needs_positions(capsys: pytest.CaptureFixture[str]) -> None:
    found = cell("05-training-and-decoding.md")
    assert found["before"].sum() == pytest.approx(1)
    assert found["after"].sum() < 0.5
    cell("07-self-attention.md")
    assert capsys.readouterr().out.endswith("order is lost: True\nwith positions: False\n")


def test_the_growth_of_a_map_is_as_the_page_tells() -> None:
    steps = json.loads(text_of("growth.json"))["steps"]
    assert "after 50, 200, 300 and 2,600 steps" in " ".join(text_of("05-training-and-decoding.md").split())
    assert list(steps) == ["50", "200", "300", "2600"]
    sharpness = [np.mean(np.array(one["weights"]).max(axis=1)) for one in steps.values()]
    assert sharpness[0] < 0.2
    assert sharpness == sorted(sharpness)
    assert sharpness[-1] > 0.85


def test_hindi_is_drawn_as_outlines() -> None:
    for path in PICTURES.iterdir():
        texts = " ".join("".join(one.itertext()) for one in ElementTree.parse(path).getroot().iter(f"{SVG}text"))
        assert not re.search(r"[\u0900-\u097f]", texts), path.name


def test_the_numpy_simulation_runs_and_is_the_dot_score() -> None:
    found = cell("04-luong.md")
    view = global_view(np.ones(4, dtype=bool), 1)
    wanted = dot(found["query"][None], found["states"], view)
    np.testing.assert_allclose(found["weights"], wanted.weights[0], rtol=1e-12)
    np.testing.assert_allclose(found["context"], wanted.context[0], rtol=1e-12)
    assert np.array_equal(found["states"], explained.STATES[:4])


@cache
def measured() -> dict[str, dict]:
    found: dict[str, dict] = json.loads(text_of("maps.json"))
    return found


def test_measured_maps_have_rows_that_sum_to_one() -> None:
    for name, one in measured()["maps"].items():
        weights = np.array(one["weights"])
        assert weights.shape == (len(one["target"]), len(one["source"])), name
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=0.01)


def test_quoted_figures_of_the_two_models_are_the_measured_ones() -> None:
    """Other pages refer to the demo's own page instead of quoting its figures."""
    demo, plain = measured()["demo"], measured()["plain"]
    shares = (f"{plain['exact_match']:.1%}", f"{demo['exact_match']:.1%}")
    wanted = f"{shares[0]} of {plain['sentences']} unseen sentences right without smoothing and {shares[1]} with it"
    assert wanted.replace("%", " %") in " ".join(text_of("06-reading-maps.md").split())
    assert f"AER {plain['aer']:.3f} and {demo['aer']:.3f}" in text_of("06-reading-maps.md")
    assert not re.search(r"\d\.\d %|0\.0\d\d", text_of("02-alignment.md"))


def test_quoted_bleu_by_length_is_the_measured_one() -> None:
    record = json.loads((ROOT / "docs" / "results" / "length.json").read_text(encoding="utf-8"))
    page = text_of("01-bottleneck.md")
    assert f"for the same {record['steps']:,} steps" in page
    systems = [{f"{row[0]}–{row[1]}": row for row in one["by_length"]} for one in record["systems"].values()]
    quoted = tables(page)["words"]
    assert len(quoted) == 4
    for lengths, bleu in quoted.items():
        assert bleu == [round(one[lengths][3], 1) for one in systems], lengths
        assert f"({systems[0][lengths][2]} unseen sentences for each length" in page


def test_quoted_weights_are_the_measured_ones() -> None:
    quoted = re.findall(
        r"^\| `([\w-]+)` \| \*(.+?)\* \| \*(.+?)\* \| ([\d.]+) \|$", text_of("06-reading-maps.md"), re.MULTILINE
    )
    assert len(quoted) >= 8
    for name, target, source, weight in quoted:
        one = measured()["maps"][name]
        row = one["weights"][_place(one["target"], target)]
        assert f"{row[_place(one['source'], source)]:.2f}" == weight, (name, target, source)


def _place(words: list[str], wanted: str) -> int:
    """`le (2)` is the second `le`."""
    word, _, which = wanted.removesuffix(")").partition(" (")
    return [place for place, found in enumerate(words) if found == word][int(which or 1) - 1]


def test_figures_that_the_pages_take_from_the_log_are_in_the_log() -> None:
    log = (ROOT / "docs" / "log.md").read_text(encoding="utf-8")
    for figure in ("97.2, 95.2, 96.6 % | 0.071, 0.123, 0.110", "context at the output | 98.0 % | 0.050"):
        assert figure in log
    for figure in ("250 µs for 64 × 12 × 128", "`sigmoid` took 40", "row times a matrix took 22"):
        assert figure in log


def test_the_pictures_are_what_the_script_draws(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(STORY / "make_pictures.py"), str(tmp_path)], check=True)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in PICTURES.iterdir()}
    assert drawn.keys() == kept.keys()
    changed = [name for name in drawn if drawn[name] != kept[name]]
    assert not changed, f"{', '.join(changed)} differ: run `python docs/story/make_pictures.py`"


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_has_a_description_scales_and_is_readable(path: Path) -> None:
    root = ElementTree.parse(path).getroot()
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert title.text
    assert description is not None
    assert description.text
    assert len(description.text) > 40
    assert root.get("font-family") == "sans-serif"
    _, _, width, height = (float(number) for number in root.get("viewBox", "").split())
    for text in root.iter(f"{SVG}text"):
        assert float(text.get("font-size", 0)) * 360 / width >= 10, "too small on a screen of 360 pixels"
        assert 0 < float(text.get("x", -1)) < width
        assert 0 < float(text.get("y", -1)) < height
    assert "href" not in path.read_text(encoding="utf-8")


@each_page
def test_links_resolve(page: Path) -> None:
    links = re.findall(r"!?\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    assert links
    for words, target in links:
        assert words, f"{target} has no words"
        if not target.startswith("https://"):
            assert (page.parent / target).resolve().exists(), target


def test_every_picture_is_shown_and_every_page_has_one() -> None:
    shown = {page.name: set(re.findall(r"\(pictures/([\w-]+)\.svg\)", page.read_text("utf-8"))) for page in PAGES}
    assert set().union(*shown.values()) == {path.stem for path in PICTURES.iterdir()}
    assert [name for name, found in shown.items() if not found] == ["README.md"]


def test_pages_follow_one_another() -> None:
    chapters = [page.name for page in PAGES if page.name != "README.md"]
    contents = re.findall(r"^\| \[.*?\]\((.+?)\)", text_of("README.md"), flags=re.MULTILINE)
    assert contents == chapters
    assert [int(name[:2]) for name in chapters] == list(range(1, 10))
    for name, following in pairwise(chapters):
        assert f"→]({following})" in text_of(name)
        assert f"]({name})" in text_of(following).splitlines()[-1]


def commands(text: str) -> list[list[str]]:
    """Every `regard …` that a page asks the reader to type, in words."""
    typed = re.findall(r"`regard( [^`]*)?`", text.replace("\n", " "))
    typed += re.findall(r"^    regard( .*)$", text, flags=re.MULTILINE)
    return [re.sub(r'"[^"]*"', "TEXT", one).split() for one in typed if one]


@each_page
def test_commands_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = commands(page.read_text(encoding="utf-8"))
    assert typed, "nothing to try"
    for verb, *arguments in typed:
        assert verb in VERBS, verb
        assert run([verb, "--help"]) == 0
        printed = capsys.readouterr().out
        for option in (one for one in arguments if one.startswith("--")):
            assert option in printed, f"regard {verb} has no {option}"
        if verb == "explain" and arguments:
            explained.explain(arguments[0])
        if verb == "train":
            load_recipe(arguments[0])


@each_page
def test_exercises_are_those_of_the_course(page: Path) -> None:
    for found in re.findall(r"exercises? ([\d, and()a-zA-Z-]+?) of `regard learn`", page.read_text(encoding="utf-8")):
        assert all(1 <= int(number) <= len(entries()) for number in re.findall(r"\d+", found))

"""Everything in the guide "Pronunciation in your own program" runs: commands, both programs, the script, the recipe."""

import re
import shlex
import shutil
import sys
from itertools import product
from pathlib import Path

import pytest

import regard
from processes import completed
from regard.cli.main import run

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "pronunciation.md").read_text(encoding="utf-8")
WORDS = ["synchronise", "thought", "colonel", "Hello, well-known world!", "don’t", "CAFÉ", "rendez-vous"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("given", re.findall(r"^    \$ (regard .*(?:\n    [^$\n].*)*)", GUIDE, flags=re.MULTILINE))
def test_commands_print_what_the_guide_shows(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    command, *wanted = [line.strip() for line in given.splitlines()]
    assert run(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr()
    assert not printed.err
    for line, shown in zip(printed.out.splitlines(), wanted, strict=True):
        for part, other in zip(line.split(), shown.split(), strict=True):
            assert part == other or float(part) == pytest.approx(float(other), abs=1e-3)


def test_the_python_program_shows_phones_links_and_alternatives(tmp_path: Path) -> None:
    program, _ = blocks("python")
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    done = completed([sys.executable, tmp_path / "program.py"], cwd=tmp_path, seconds=200)
    assert done.returncode == 0, done.stderr
    speaker = regard.load("g2p-en")
    word = speaker.translate("synchronise", nbest=3)
    first, *links, others, known = done.stdout.splitlines()
    assert first == word.text
    assert len(links) == len(word.alignment) > 6
    assert links[0] == "s → S"
    assert others == str([one.text for one in word.alternatives])
    assert known == str(["R IH G AA R D", *(one.text for one in speaker.translate(["thought", "Café"]))])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    folder = tmp_path_factory.mktemp("onnx") / "g2p-onnx"
    assert run(["export", "onnx", "g2p-en", "--int8", "--out", str(folder)]) == 0
    return folder


def test_the_program_without_torch_pronounces_as_regard_does(folder: Path, tmp_path: Path) -> None:
    _, program = blocks("python")
    hidden = "import sys\nsys.modules.update(torch=None, regard=None)\n"
    (tmp_path / "pronounce.py").write_text(hidden + program, encoding="utf-8")
    done = completed([sys.executable, tmp_path / "pronounce.py", folder, *WORDS], cwd=tmp_path, seconds=200)
    assert (done.returncode, done.stderr) == (0, "")
    found = regard.load(folder).translate(" ".join(WORDS), beam=1)
    printed = [line.split("\t") for line in done.stdout.splitlines()]
    assert " | ".join(phones.strip() for phones, _ in printed) == found.text
    letters = "".join(letter for _, links in printed for letter in links.split())
    assert letters == "".join(
        found.source_words[letter] for letter, _ in sorted(found.alignment, key=lambda one: one[1])
    )


@pytest.mark.long
def test_the_script_in_the_page_pronounces_as_python_does(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or pytest.skip("needs Chromium")
    assert run(["export", "web", "g2p-en", "--out", str(tmp_path / "page")]) == 0
    (script,) = blocks("js")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((tmp_path / "page" / "index.html").as_uri())
        text, alignment, sentence = page.evaluate(f"async () => {{ {script} }}")
        browser.close()
    speaker = regard.load("g2p-en")
    word = speaker.translate("synchronise")
    assert text == word.text
    assert {tuple(link) for link in alignment} == word.alignment
    assert sentence == speaker.translate("Hello, world!", beam=1).text


def test_the_recipe_trains_a_model_that_reads_word_by_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (recipe,) = blocks("toml")
    monkeypatch.chdir(tmp_path)
    Path("dictionary.toml").write_text(recipe, encoding="utf-8")
    words = ["".join(letters) for letters in product("haelo", repeat=3)]
    entries = "".join(f"{word}\t{' '.join(word.upper())}\n" for word in words)
    Path("dictionary.tsv").write_text(entries, encoding="utf-8")
    train, translate, evaluate = re.findall(r"^    (regard [a-z]+ .*dictionary.*)$", GUIDE, flags=re.MULTILINE)
    small = "--set train.steps=2 --set model.size=tiny --set train.validate_every=2 --set train.batch_sentences=8"
    assert run(shlex.split(f"{train} {small}")[1:]) == 0
    capsys.readouterr()
    assert run([*shlex.split(translate)[1:], "ho ho"]) == 0
    hallo, several = capsys.readouterr().out.splitlines()
    assert ("|" in hallo, several.count("|")) == (False, 1)
    assert run(shlex.split(evaluate)[1:]) == 0

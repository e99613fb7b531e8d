"""Moses tokens: the rules by example, and Multi30k's published files line by line if they are available."""

import html
import lzma
import os
from pathlib import Path

import pytest

from regard.text.input_error import InputError
from regard.text.moses import tokenise

CORPORA = Path(os.environ.get("REGARD_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "multi30k"


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("en", "a woman's hat, 5,300 years old.", "a woman 's hat , 5,300 years old ."),
        ("en", 'he said "go."', 'he said " go . "'),
        ("en", "wait... (now)", "wait ... ( now )"),
        ("en", "mr. smith vs. jones", "mr. smith vs. jones"),
        ("en", "about 4' in size", "about 4 ' in size"),
        ("en", "a 50 % share", "a 50 % share"),
        ("en", "t-shirt & jeans/tie", "t-shirt & jeans / tie"),
        ("fr", "l'homme d'à côté", "l' homme d' à côté"),
        ("fr", "une œuvre d'art.", "une œuvre d' art."),
        ("de", "joe's laden, ca. 120 cm", "joe ' s laden , ca. 120 cm"),
        ("de", "„Halt.“ Er ging.", '" Halt " . Er ging .'),
        ("de", "am 3. mai", "am 3. mai"),
        ("en", "", ""),
    ],
)
def test_rules(language: str, text: str, tokens: str) -> None:
    assert tokenise(text, language) == tokens


def test_other_languages_are_refused() -> None:
    with pytest.raises(InputError, match="no Moses tokens for language 'hi': valid choices are en, fr, de"):
        tokenise("नमस्ते", "hi")


@pytest.mark.skipif(not CORPORA.is_dir(), reason="Multi30k is not at hand: set REGARD_DATA to the folder that holds it")
@pytest.mark.parametrize("language", ["en", "de", "fr"])
@pytest.mark.parametrize("split", ["val", "test_2016_flickr", "test_2017_flickr"])
def test_every_line_of_multi30k_comes_out_as_published(split: str, language: str) -> None:
    raw, published = (
        lzma.decompress((folder / f"{split}.{language}.xz").read_bytes()).decode().splitlines()
        for folder in (CORPORA, CORPORA / "tok")
    )
    assert len(raw) == len(published) > 900
    ours = [tokenise(line.lower(), language) for line in raw]
    assert ours == [html.unescape(line).rstrip() for line in published]

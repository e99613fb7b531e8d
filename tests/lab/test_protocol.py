"""Scoring protocols by name; Multi30k's published tokens are reproduced."""

import pytest

from regard.lab.scoring_protocol import NAMES, find_protocol
from regard.text.input_error import InputError
from runtime.bundles import tokenizers


def test_each_protocol_prepares_its_text() -> None:
    target = tokenizers()[1]  # lower-cases, drops a final stop
    said = "L'Afrique, là !"
    wanted = {
        "model": "l'afrique, là!",
        "raw": said,
        "lowercase": "l'afrique, là !",
        "multi30k-fr": "l' afrique , là !",
    }
    for name, text in wanted.items():
        protocol = find_protocol(name, target)
        assert protocol.reference(said) == text
        assert protocol.tokenize == ("none" if name.startswith("multi30k") else "13a")
    assert find_protocol("model", target).hypothesis(said) == said
    assert find_protocol("model").name == "raw"  # no model says how it writes
    assert find_protocol("raw", tokenize="char").tokenize == "char"


def test_unknown_names() -> None:
    with pytest.raises(InputError, match=f"no protocol 'wmt': valid choices are {', '.join(NAMES)}"):
        find_protocol("wmt")
    with pytest.raises(InputError, match="cuts the tokens itself: leave --tokenize 13a out"):
        find_protocol("multi30k-de", tokenize="13a")
    with pytest.raises(InputError, match="sacrebleu has no tokenizer 'spm9000'"):
        find_protocol("raw", tokenize="spm9000")


def test_a_tokenizers_missing_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def needy(*arguments: object, **options: object) -> None:
        raise RuntimeError("\nJapanese needs more.\n\n    pip install sacrebleu[ja]\n")

    monkeypatch.setattr("regard.lab.scoring_protocol.bleu", needy)
    with pytest.raises(InputError, match=r"^--tokenize ja-mecab: Japanese needs more\. pip install sacrebleu\[ja\]$"):
        find_protocol("raw", tokenize="ja-mecab")

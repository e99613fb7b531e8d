"""What pages say about models of the package: languages and examples."""

import pytest

from regard.bundle.find import find_bundle
from regard.bundle.manifest import NAME, read_manifest
from regard.lab.about_model import about_model


@pytest.mark.parametrize(
    ("name", "source", "target", "example"),
    [
        ("en-fr", "en", "fr", None),
        ("demo-en-hi", "en", "hi", "The black cat sat on the mat."),
        ("g2p-en", "en", None, "Synchronise"),
    ],
)
def test_languages_and_examples(name: str, source: str, target: str | None, example: str | None) -> None:
    folder = find_bundle(name)
    about = about_model(read_manifest(folder / NAME), folder, name)
    assert (about["source_language"], about["target_language"]) == (source, target)
    assert (about["examples"] or [None])[0] == example

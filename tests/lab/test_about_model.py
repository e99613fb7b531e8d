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


def test_models_made_to_be_compared_have_vocabularies_of_one_size() -> None:
    sizes = set()
    for name in ("demo-en-fr", "demo-en-fr-vanilla", "demo-en-fr-transformer"):
        about = about_model(read_manifest(find_bundle(name) / NAME), find_bundle(name), name)
        sizes.add((about["source_vocabulary"], about["target_vocabulary"]))
    assert sizes == {(336, 488)}

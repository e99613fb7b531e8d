"""`Worker`: dicts of arrays in, dicts of arrays out, bad rows reported."""

import numpy as np
import pytest

import regard
from regard.runtime.row_worker import WRITTEN, Worker
from regard.text.input_error import InputError

TEXTS = ["the black cat sat on the mat", "she sleeps", "he traveled to london"]


@pytest.fixture(scope="module")
def worker() -> Worker:
    return Worker("demo-en-fr", beam=2)


def test_rows_keep_their_order_and_their_other_columns(worker: Worker) -> None:
    found = worker({"id": np.arange(3), "text": np.array(TEXTS, dtype=object)})
    assert list(found) == ["id", "text", *WRITTEN]
    wanted = regard.load("demo-en-fr").translate(TEXTS, beam=2)
    assert found["translation"].tolist() == [one.text for one in wanted]
    assert found["score"].tolist() == pytest.approx([one.score for one in wanted])
    assert found["id"].tolist() == [0, 1, 2]
    links = [tuple(map(int, link.split("-"))) for link in found["alignment"][0].split()]
    assert links == sorted(wanted[0].alignment)


def test_bad_rows_are_reported_and_the_others_translated(worker: Worker) -> None:
    rows = [None, TEXTS[0], 3.5, "\ud800 broken", float("nan"), "", TEXTS[1]]
    found = worker({"text": rows})
    assert found["error"].tolist()[::2] == [
        "nothing, expected text",
        "float, expected text",
        "float, expected text",
        "",
    ]
    assert found["error"][3].startswith("not valid Unicode at character 0")
    assert [bool(text) for text in found["translation"]] == [False, True, False, False, False, False, True]
    assert np.isnan(found["score"][0])
    assert found["error"][5] == "", "a blank text is translated by a blank"


def test_texts_without_a_translation_are_errors_with_the_reason() -> None:
    found = Worker("g2p-en")({"text": ["42", "hello", "3 4", "!!!", "日本", "", " \t"]})
    assert [bool(text) for text in found["translation"]] == [False, True, False, False, False, False, False]
    assert found["error"][0].startswith("unknown to this model and left out: '4', '2'")
    assert found["error"][1] == ""
    assert found["error"][3] == "blank: nothing to translate"
    assert [bool(error) for error in found["error"]] == [True, False, True, True, True, False, False]
    assert np.isnan(found["score"][0])


def test_rows_longer_than_the_model_reads_are_marked(worker: Worker) -> None:
    found = worker({"text": [TEXTS[1], f"{TEXTS[1]} and " * 200, None]})
    assert found["cut"].tolist() == [False, True, False]
    assert found["warning"][1].startswith("too long")


def test_translations_cut_before_their_end_are_marked(worker: Worker) -> None:
    found = worker({"text": [TEXTS[1], "cat " * 20]})
    assert found["cut"].tolist() == [False, True]
    assert "the translation was cut after" in found["warning"][1]


def test_lists_and_objects_are_bad_rows_and_no_column_is_converted(worker: Worker) -> None:
    batch = {"text": [TEXTS[1], ["a"], {"b": [1]}], "other": [1, [2, 3], None]}
    found = worker(batch)
    assert found["error"].tolist() == ["", "list, expected text", "dict, expected text"]
    assert {name: found[name] for name in batch} == batch


def test_wrong_batches_and_options_get_one_message(worker: Worker) -> None:
    with pytest.raises(InputError, match="no column 'text': the batch has 'sentence'"):
        worker({"sentence": TEXTS})
    with pytest.raises(InputError, match="already has a column 'score'"):
        worker({"text": TEXTS, "score": [1, 2, 3]})
    with pytest.raises(InputError, match="translate has no option 'beem'"):
        Worker("demo-en-fr", beem=3)

"""POST /translate against a real server and the models of the package."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import regard

CAT = "the black cat sat on the mat"
Post = Callable[..., Any]


def test_a_translation_carries_pieces_words_scores_and_attention(post: Post) -> None:
    answer = post("/translate", text="The black cat sat on the mat.", top=3)
    assert (answer["model"], answer["mode"], answer["warnings"]) == ("demo-en-fr", "free", [])
    source, (best,) = answer["source"], answer["hypotheses"]
    assert source["text"] == CAT
    assert (source["language"], best["target"]["language"]) == ("en", "fr")
    assert [piece["special"] for piece in source["pieces"]] == [None] * 7 + ["EOS"]
    assert best["target"]["text"] == "le chat noir était assis sur le tapis"
    for side in (source, best["target"]):
        for piece in side["pieces"]:
            if piece["special"] is None:
                start, end = piece["span"]
                assert side["text"][start:end] == piece["text"]
                assert side["words"][piece["word"]]["span"] == [start, end]
    assert len(best["steps"]) == len(best["target"]["pieces"]) == 9
    for step, piece in zip(best["steps"], best["target"]["pieces"], strict=True):
        assert step["top"][0]["probability"] == pytest.approx(step["probability"], abs=1e-5)
        assert step["top"][0]["id"] == piece["id"]
        assert len(step["top"]) == 3
        assert 0 <= step["entropy"] < np.log(500)
    assert best["score"] == pytest.approx(sum(step["log_probability"] for step in best["steps"]), abs=1e-4)
    assert answer["timings"]["batch"] >= 1


def test_attention_is_the_translators_own_and_its_rows_sum_to_one(post: Post) -> None:
    best = post("/translate", text=CAT)["hypotheses"][0]
    weights = np.array(best["attention"]["data"], dtype=np.float32)
    wanted = regard.load("demo-en-fr").translate(CAT)
    assert best["attention"]["shape"] == list(weights.shape) == [1, 1, 9, 8]
    assert wanted.attention is not None
    assert np.allclose(weights, wanted.attention, atol=1e-5)
    assert np.allclose(weights.sum(axis=-1), 1, atol=1e-5)
    words = best["word_attention"]
    matrix = np.array(words["data"])
    assert words["shape"] == list(matrix.shape) == [8, 7]
    assert wanted.word_attention is not None
    assert np.allclose(matrix, wanted.word_attention, atol=1e-5)
    assert np.allclose(matrix.sum(axis=1) + words["elsewhere"] + words["missing"], 1, atol=1e-5)
    assert np.allclose(words["missing"], 0)
    assert sorted(map(tuple, best["alignment"])) == sorted(wanted.alignment)


def test_hindi_is_translated_with_its_language(post: Post) -> None:
    answer = post("/translate", model="demo-en-hi", text="turn off the lights")
    target = answer["hypotheses"][0]["target"]
    assert (target["text"], target["language"], target["direction"]) == ("लाइट बंद करो", "hi", "ltr")
    assert [target["text"][slice(*word["span"])] for word in target["words"]] == ["लाइट", "बंद", "करो"]


def test_gold_links_come_with_known_sentences_that_are_right(post: Post) -> None:
    assert post("/translate", text=CAT)["gold"] == sorted(post("/translate", text=CAT)["gold"])
    assert [1, 2] in post("/translate", text=CAT)["gold"]
    assert post("/translate", text="the cat")["gold"] is None
    assert post("/translate", text=CAT, mode="forced", target="le chat")["gold"] is None


def test_a_forced_target_is_scored_and_marked(post: Post) -> None:
    answer = post("/translate", text=CAT, mode="forced", target="le chien noir")
    (best,) = answer["hypotheses"]
    wanted = regard.load("demo-en-fr").translate(CAT, target="le chien noir")
    assert best["forced"]
    assert all(step["forced"] for step in best["steps"])
    assert best["target"]["text"] == "le chien noir"
    assert best["score"] == pytest.approx(wanted.score, abs=1e-4)
    assert answer["beam_id"] is None


def test_a_prefix_begins_the_translation_as_text_and_as_ids(post: Post) -> None:
    begun = post("/translate", text=CAT, prefix="le chien")["hypotheses"][0]
    assert begun["target"]["text"].startswith("le chien noir")
    assert [step["forced"] for step in begun["steps"][:3]] == [True, True, False]
    ids = [piece["id"] for piece in begun["target"]["pieces"][:2]]
    assert post("/translate", text=CAT, prefix_ids=ids)["hypotheses"][0]["target"] == begun["target"]


def test_the_n_best_are_different_and_sorted(post: Post) -> None:
    found = post("/translate", text=CAT, beam=5, nbest=3)["hypotheses"]
    assert len({one["target"]["text"] for one in found}) == len(found) == 3
    scores = [one["normalised_score"] for one in found]
    assert scores == sorted(scores, reverse=True)


def test_sampling_depends_on_the_seed_alone(post: Post) -> None:
    body = {"text": CAT, "temperature": 3.0, "top_k": 50, "nbest": 3}
    first, again = (post("/translate", **body, seed=7)["hypotheses"] for _ in range(2))
    assert [one["target"]["text"] for one in first] == [one["target"]["text"] for one in again]
    other = post("/translate", **body, seed=8)["hypotheses"]
    assert [one["target"]["text"] for one in first] != [one["target"]["text"] for one in other]


def test_an_edited_row_changes_what_follows_and_nothing_before(post: Post) -> None:
    plain = post("/translate", text=CAT)["hypotheses"][0]
    row = [0, 0, 0, 0, 0, 0, 1, 0]
    edited = post("/translate", text=CAT, attention_edit={"step": 1, "weights": row})["hypotheses"][0]
    assert edited["target"]["text"].startswith("le tapis noir")
    assert edited["attention"]["data"][0][0][1] == row
    assert np.allclose(edited["attention"]["data"][0][0][0], plain["attention"]["data"][0][0][0], atol=1e-6)
    forced = post("/translate", text=CAT, mode="forced", target="le chat noir",
                  attention_edit={"step": 1, "weights": row})["hypotheses"][0]  # fmt: skip
    assert forced["target"]["text"] == "le chat noir"
    assert forced["steps"][1]["log_probability"] < plain["steps"][1]["log_probability"] - 1


def test_a_client_that_needs_text_only_gets_no_attention(post: Post) -> None:
    (best,) = post("/translate", text=CAT, attention=False, top=0)["hypotheses"]
    assert (best["attention"], best["word_attention"]) == (None, None)
    assert best["steps"][0]["top"] == []
    assert best["steps"][0]["entropy"] is None


def test_blank_long_and_unknown_texts_are_reported(post: Post) -> None:
    blank = post("/translate", text=" \n ")
    assert (blank["hypotheses"], blank["warnings"]) == ([], ["blank: nothing to translate"])
    assert blank["beam_id"] is None
    unknown = post("/translate", text="the zebra sleeps")
    assert unknown["warnings"] == ["unknown to this model: 'zebra'"]
    assert unknown["source"]["pieces"][1] == {"text": "zebra", "id": 1, "span": [4, 9], "word": 1, "special": "UNK"}
    long = post("/translate", text="the cat " * 30)
    assert any("only the first 20 of 60 pieces were read" in one for one in long["warnings"])


@pytest.mark.parametrize(
    ("body", "field", "part"),
    [
        ({"mode": "forced"}, "target", "needs the target"),
        ({"target": "le chat"}, "target", "mode forced"),
        ({"mode": "forced", "target": "le", "beam": 3}, "beam", "no free pieces"),
        ({"prefix": "le", "prefix_ids": [6]}, "prefix_ids", "not both"),
        ({"prefix_ids": [999999]}, "prefix_ids", "is not valid"),
        ({"beam": 17}, "beam", "at most 16"),
        ({"beam": 0}, "beam", "at least 1"),
        ({"beam": 2, "nbest": 3}, None, "nbest 3 is more than beam 2"),
        ({"beam": 2, "temperature": 1.0}, None, "leave one of them out"),
        ({"top_k": 5}, None, "need a temperature"),
        ({"layer": 3}, "layer", "this model has layers 0 to 0"),
        ({"attention_edit": {"step": 0, "weights": [1.0]}}, "attention_edit.weights", "the source has 8 pieces"),
        ({"attention_edit": {"step": 0, "weights": [0.5] * 8}}, "attention_edit.weights", "sum to 4"),
        ({"attention_edit": {"step": 0, "weights": [-1] + [0.2] * 7}}, "attention_edit.weights", "0 or more"),
        ({"attention_edit": {"step": 0, "weights": [0.1] * 8}, "beam": 2}, "attention_edit", "a single hypothesis"),
        ({"bean": 3}, "bean", "no such key"),
        ({"text": 5}, "text", "expected a string"),
    ],
)  # fmt: skip
def test_wrong_requests_name_the_key(refused: Post, body: dict[str, Any], field: str | None, part: str) -> None:
    error = refused(422, "/translate", **{"text": CAT, **body})
    assert error["code"] in ("invalid", "unsupported")
    assert error["field"] == field
    assert part in error["message"]


def test_the_documented_models_and_limits_are_those_of_a_server(client: httpx.Client) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "http-api.md"
    shown = page.read_text(encoding="utf-8").split("## GET /models")[1].split("```json")[1].split("```")[0]
    documented, found = json.loads(shown), client.get("/api/v1/models").json()
    assert documented["limits"] | {"seconds": 120.0} == found["limits"], "the tests' server waits longer"
    example, model = documented["models"][0], found["models"][0]
    assert example["examples"] == model["examples"][:1]
    assert example | {"examples": None} == model | {"examples": None}


def test_models_are_found_by_id(client: httpx.Client, refused: Post) -> None:
    error = refused(404, "/translate", text=CAT, model="demo-en-f")
    assert (error["code"], error["hint"]) == ("not_found", "did you mean 'demo-en-fr'?")
    found = client.get("/api/v1/models").json()
    assert [one["id"] for one in found["models"]] == ["demo-en-fr", "demo-en-hi"]
    assert found["default"] == "demo-en-fr"
    first = found["models"][0]
    assert (first["placement"], first["score"], first["layers"], first["heads"]) == ("input", "additive", 1, 1)
    assert first["parameters"] == regard.load("demo-en-fr").bundle.model.parameters_count
    assert "The black cat sat on the mat." in first["examples"]
    assert found["limits"]["beam"] == 16


def test_a_temperature_that_overflows_is_refused(refused: Post) -> None:
    assert refused(422, "/translate", text=CAT, temperature=5e-324)["field"] == "temperature"


@pytest.mark.parametrize(
    ("given", "field", "message", "hint"),
    [
        ({}, "text", "text: required, but not given", None),
        ({"text": CAT, "bean": 3}, "bean", "bean: there is no such key", "did you mean 'beam'?"),
        (
            {"text": CAT, "beam": 99},
            "beam",
            "beam: 99 given, at most 16 accepted",
            "GET /api/v1/models lists the limits",
        ),
        ({"text": CAT, "beam": True}, "beam", "beam: true given, expected an integer", None),
        ({"text": CAT, "beam": "2"}, "beam", "beam: a string given, expected an integer", None),
        ({"text": CAT, "mode": "x"}, "mode", "mode: \"x\" given, expected 'free' or 'forced'", None),
        ({"text": [CAT]}, "text", "text: an array given, expected a string", None),
        (
            {"text": "she sleeps", "prefix": "le " * 1000},
            "prefix",
            "prefix: 1,000 pieces given, a translation of this text has at most 16",
            None,
        ),
        (
            {"text": CAT, "attention_edit": {"step": 0, "weights": [-1.0, 1.0]}},
            "attention_edit.weights",
            "attention_edit.weights: one is -1: expected numbers of 0 or more that sum to at most 1",
            None,
        ),
    ],
)
def test_messages_say_what_was_given_and_what_is_accepted(
    refused: Any, given: dict[str, Any], field: str, message: str, hint: str | None
) -> None:
    error = refused(422, "/translate", **given)
    assert (error["field"], error["message"], error["hint"]) == (field, message, hint)


def test_an_edit_beyond_the_last_step_is_reported(post: Any) -> None:
    answer = post("/translate", text="she sleeps", attention_edit={"step": 90, "weights": [1.0, 0.0, 0.0]})
    assert any("step 90 was not reached" in warning for warning in answer["warnings"])

"""POST /step, /occlusion, /compare and GET /beam against a real server: the model's own numbers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch

import regard
from regard.runtime.source_text import pad, read_source
from regard.server.settings import Settings
from regard.text.special import BOS
from runtime.bundles import untrained

from .conftest import running

CAT = "the black cat sat on the mat"
Post = Callable[..., Any]


def _float32(values: Any) -> Any:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize("model", ["demo-en-fr", "demo-en-hi"])
def test_a_step_is_to_the_bit_what_the_model_computed(post: Post, model: str) -> None:
    """The oracle: the same sentence decoded alone, by hand, with the trace of the model's own step."""
    bundle = regard.load(model).bundle
    source = read_source(CAT, bundle.source, eos=bundle.manifest.source_eos, longest=100)
    stepper: Any = regard.load(model).stepper
    with torch.inference_mode():
        state, token = stepper.start(pad([source.encoding.ids], torch.device("cpu"))), BOS
        for number in range(50):
            found = stepper.step(torch.tensor([token]), state, trace=True)
            (trace,), state = found.trace, found.state
            token = int(found.logits[0].argmax())
            answer = post("/step", model=model, text=CAT, step=number)
            (layer,) = answer["layers"]
            assert np.array_equal(_float32(layer["query"]), trace.query[0, 0].numpy())
            assert np.array_equal(_float32(layer["scores"]), trace.scores[0, :, 0].numpy())
            assert layer["mask"] == trace.mask[0, :, 0].tolist()
            assert np.array_equal(_float32(layer["weights"]), found.weights[0, 0].numpy())
            assert np.array_equal(_float32(layer["context"]), trace.context[0, 0].numpy())
            values, ids = torch.log_softmax(found.logits, dim=-1)[0].topk(10)
            assert [one["id"] for one in answer["top"]] == ids.tolist()
            assert [one["probability"] for one in answer["top"]] == values.exp().tolist()
            assert answer["writes"]["id"] == token
            if token == 3:
                break
    assert answer["steps"] == number + 1
    assert answer["writes"]["special"] == "EOS"


def test_a_step_says_what_is_read_and_written(post: Post, refused: Post) -> None:
    first, second = (post("/step", text=CAT, step=number, top=2) for number in (0, 1))
    assert first["query_name"] == "s_{t-1}"
    assert first["reads"] == {"text": "", "id": 2, "span": None, "word": None, "special": "BOS"}
    assert (first["writes"]["text"], second["reads"]["text"], second["writes"]["text"]) == ("le", "le", "chat")
    assert (len(first["top"]), first["layers"][0]["window"], first["no_attention"]) == (2, None, None)
    assert refused(422, "/step", text=CAT, step=99)["field"] == "step"
    assert refused(422, "/step", text=CAT, hypothesis=2)["field"] == "hypothesis"
    assert refused(422, "/step", text=" ")["field"] == "text"


def test_a_step_of_an_edited_decode_shows_the_edit(post: Post) -> None:
    row = [0, 0, 0, 0, 0, 0, 1, 0]
    edited = post("/step", text=CAT, step=1, attention_edit={"step": 1, "weights": row})
    assert (edited["edited"], edited["writes"]["text"]) == (True, "tapis")
    assert edited["layers"][0]["weights"] == [row]
    assert not post("/step", text=CAT, step=2, attention_edit={"step": 1, "weights": row})["edited"]


def test_steps_of_beam_and_forced_decodes(post: Post) -> None:
    second = post("/step", text=CAT, beam=3, nbest=2, hypothesis=1, step=0)
    texts = [one["target"]["text"] for one in post("/translate", text=CAT, beam=3, nbest=2)["hypotheses"]]
    assert second["target"]["text"] == texts[1]
    forced = post("/step", text=CAT, mode="forced", target="le chien", step=1)
    assert (forced["forced"], forced["writes"]["text"], forced["top"][0]["text"]) == (True, "chien", "chat")


def test_dropping_a_word_hurts_its_translation(post: Post, refused: Post) -> None:
    answer = post("/occlusion", text=CAT)
    words = [word["text"] for word in answer["target"]["words"]]
    changes = np.array([row["changes"] for row in answer["rows"]])
    assert changes.shape == (7, len(words) + 1)
    assert int(changes[:, words.index("noir")].argmin()) == 1
    assert changes[1, words.index("noir")] < -1
    assert not answer["forced"]
    own = post("/occlusion", text=CAT, target="le chien noir")
    assert (own["forced"], own["target"]["text"]) == (True, "le chien noir")
    assert own["log_probabilities"][1] < -2
    assert post("/occlusion", text="cat")["rows"] == []
    assert refused(422, "/occlusion", text="")["field"] == "text"


def test_models_are_compared_side_by_side(post: Post, refused: Post) -> None:
    answer = post("/compare", models=["demo-en-fr", "demo-en-hi"], text=CAT)
    first, second = answer["results"]
    assert (first["model"], second["model"]) == ("demo-en-fr", "demo-en-hi")
    assert first["translation"]["hypotheses"][0]["target"]["text"].startswith("le chat noir")
    assert 0 <= first["aer"] < 0.5
    assert first["log_probability"] < 0
    assert first["attention_entropy"] > 0
    (difference,) = answer["differences"]
    assert not difference["possible"]
    assert "force one target" in difference["reason"]
    forced = post("/compare", models=["demo-en-fr", "demo-en-hi"], text=CAT, mode="forced", target="le chat noir")
    assert forced["differences"][0] == {
        "first": "demo-en-fr", "second": "demo-en-hi", "possible": False,
        "reason": "demo-en-hi does not know 'le', 'chat', 'noir'",
    }  # fmt: skip
    first, second = (one["translation"]["warnings"] for one in forced["results"])
    assert first == []
    assert second == ["unknown to this model, in the target: 'le', 'chat', 'noir'"]
    assert refused(404, "/compare", models=["demo-en-fr", "nothing"], text=CAT)["code"] == "not_found"
    assert refused(422, "/compare", models=["demo-en-fr"] * 2, text=CAT)["field"] == "models"
    assert refused(422, "/compare", models=["demo-en-fr"], text=CAT, mode="forced")["field"] == "target"


def test_a_beam_tree_has_kept_pruned_and_finished_nodes(post: Post, client: httpx.Client) -> None:
    answer = post("/translate", text=CAT, beam=3, nbest=2)
    tree = client.get(f"/api/v1/beam/{answer['beam_id']}").json()
    nodes = {node["id"]: node for node in tree["nodes"]}
    assert tree["beam"] == 3
    assert nodes[0]["parent"] is None
    assert {"kept", "pruned", "finished"} <= {node["fate"] for node in nodes.values()}
    for node in list(nodes.values())[1:]:
        parent = nodes[node["parent"]]
        assert parent["depth"] == node["depth"] - 1
        assert node["prefix_ids"] == [*parent["prefix_ids"], node["piece"]["id"]]
        assert node["score"] <= parent["score"] + 1e-6
        assert node["normalised_score"] == pytest.approx(node["score"] / node["depth"])
        assert (node["rank"] > 3) == (node["fate"] == "pruned") or node["fate"] != "pruned"
    best = {node["best"]: node["text"] for node in nodes.values() if node["best"]}
    texts = [one["target"]["text"] for one in answer["hypotheses"]]
    assert [best[1], best[2]] == texts
    pruned = next(node for node in nodes.values() if node["fate"] == "pruned" and node["depth"] == 2)
    forced = post("/translate", text=CAT, prefix_ids=pruned["prefix_ids"])["hypotheses"][0]
    assert forced["target"]["text"].startswith(pruned["text"])
    assert client.get("/api/v1/beam/b-none").status_code == 404


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server with a model of each kind of attention."""
    base: Path = tmp_path_factory.mktemp("kinds")
    names = {"luong": None, "vanilla": None, "transformer": None}
    paths = [untrained(base / name, name) for name in names]
    paths.append(untrained(base / "local-p", "luong", model={"window": "local-p", "reach": 2}))
    paths.append(untrained(base / "local-m", "luong", model={"window": "local-m", "reach": 2}))
    paths.append(untrained(base / "bpe", "bahdanau", "bpe"))
    with running(Settings(bundles=tuple(paths), seconds=120.0)) as (client, _, _):
        yield client


def test_local_attention_shows_its_window(kinds: httpx.Client) -> None:
    for name in ("local-p", "local-m"):
        body = {"model": name, "text": CAT, "mode": "forced", "target": "le chat noir", "step": 2}
        step = kinds.post("/api/v1/step", json=body).json()
        (layer,) = step["layers"]
        window = layer["window"]
        assert (window["kind"], window["reach"]) == (name, 2)
        assert step["query_name"] == "s_t"
        places = np.arange(len(step["source"]["pieces"]))
        inside = np.abs(places - window["center"]) <= 2
        assert layer["mask"] == [inside.tolist()]
        scores = np.where(inside, layer["scores"][0], -np.inf)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        if name == "local-p":
            weights *= window["gaussian"]
            assert np.allclose(window["gaussian"], np.exp(-((places - window["center"]) ** 2) / 2), atol=1e-6)
        else:
            assert window["gaussian"] is None
        assert np.allclose(layer["weights"][0], weights, atol=1e-6)


def test_the_mass_that_local_p_takes_away_is_reported(kinds: httpx.Client) -> None:
    body = {"model": "local-p", "text": CAT, "mode": "forced", "target": "le chat noir"}
    matrix = kinds.post("/api/v1/translate", json=body).json()["hypotheses"][0]["word_attention"]
    assert max(matrix["missing"]) > 0.01
    total = np.array(matrix["data"]).sum(axis=1) + matrix["elsewhere"] + matrix["missing"]
    assert np.allclose(total, 1, atol=1e-5)


def test_a_transformer_has_layers_and_heads_and_returns_one_on_request(kinds: httpx.Client) -> None:
    body = {"model": "transformer", "text": CAT}
    whole = kinds.post("/api/v1/translate", json=body).json()["hypotheses"][0]["attention"]
    assert whole["shape"][:2] == [2, 2]
    assert whole["layers"] == [0, 1]
    one = kinds.post("/api/v1/translate", json={**body, "layer": 1}).json()["hypotheses"][0]["attention"]
    assert (one["layers"], one["shape"]) == ([1], whole["shape"])
    assert np.allclose(one["data"][0], whole["data"][1], atol=1e-6)
    step = kinds.post("/api/v1/step", json=body).json()
    assert (len(step["layers"]), len(step["layers"][0]["weights"]), step["query_name"]) == (2, 2, "x_t")


def test_a_model_without_attention_has_no_map_and_says_why(kinds: httpx.Client) -> None:
    body = {"model": "vanilla", "text": CAT}
    answer = kinds.post("/api/v1/translate", json=body).json()
    assert answer["no_attention"] == "one fixed vector, no alignment exists"
    assert (answer["hypotheses"][0]["attention"], answer["hypotheses"][0]["word_attention"]) == (None, None)
    assert kinds.post("/api/v1/step", json=body).json()["layers"] == []
    edit = {**body, "attention_edit": {"step": 0, "weights": [1.0]}}
    assert kinds.post("/api/v1/translate", json=edit).json()["error"]["field"] == "attention_edit"
    both = {"models": ["vanilla", "luong"], "text": CAT, "mode": "forced", "target": "le chat"}
    reason = kinds.post("/api/v1/compare", json=both).json()["differences"][0]["reason"]
    assert reason == "vanilla has no attention: one fixed vector, no alignment exists"
    pairs = {"luong": None, "bpe": "the models cut the target into different pieces"}
    for other, expected in pairs.items():
        both = {"models": ["transformer", other], "text": "the cat", "mode": "forced", "target": "le chat"}
        (difference,) = kinds.post("/api/v1/compare", json=both).json()["differences"]
        assert (difference["possible"], difference["reason"]) == (expected is None, expected)


def test_pieces_smaller_than_words_are_summed_and_averaged(kinds: httpx.Client) -> None:
    best = kinds.post("/api/v1/translate", json={"model": "bpe", "text": CAT}).json()
    source, found = best["source"], best["hypotheses"][0]
    weights = np.array(found["attention"]["data"])[0, 0]
    words = np.array(found["word_attention"]["data"])
    assert len(source["pieces"]) > len(source["words"])
    for row, _ in enumerate(found["target"]["words"]):
        pieces = [i for i, piece in enumerate(found["target"]["pieces"]) if piece["word"] == row]
        for column, _ in enumerate(source["words"]):
            columns = [i for i, piece in enumerate(source["pieces"]) if piece["word"] == column]
            assert words[row, column] == pytest.approx(weights[np.ix_(pieces, columns)].sum(axis=1).mean(), abs=1e-6)
    for piece in source["pieces"][:-1]:
        assert source["text"][slice(*piece["span"])] == piece["text"]

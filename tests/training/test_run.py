"""Whole runs: bit-equal repetition, early stopping, averaging, fine-tuning, precision, devices, divergence."""

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.bundle.store import load_bundle, save_bundle
from regard.models.seq2seq import Seq2Seq
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from regard.training import optimizer_step, training_loop, validate
from regard.training.average import mean_weights
from regard.training.journal import Averaged, Finished, Started, Stepped, Validated, Warned, read_journal
from regard.training.loss import Losses
from regard.training.prepare import prepare
from regard.training.recipe import Recipe, parse_recipe
from regard.training.run import train
from regard.training.training_loop import Diverged

from .tiny import TABLES, Listener, entries, equal, stopped, tiny, weights


def test_two_deterministic_runs_are_bit_equal(tmp_path: Path) -> None:
    recipe = tiny(model={"dropout": 0.3}, train={"teacher_forcing": 0.5, "label_smoothing": 0.1})
    train(recipe, tmp_path / "one")
    torch.manual_seed(99)
    drawn = torch.rand(3)
    train(recipe, tmp_path / "two")
    assert equal(weights(tmp_path / "one"), weights(tmp_path / "two"))
    train(tiny(model={"dropout": 0.3}, train={"teacher_forcing": 0.5, "seed": 1}), tmp_path / "three")
    assert not equal(weights(tmp_path / "one"), weights(tmp_path / "three"))
    torch.manual_seed(99)
    assert torch.equal(torch.rand(3), drawn)


def test_training_restores_torchs_settings(tmp_path: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    train(tiny(train={"steps": 2, "threads": threads + 1}), tmp_path / "run")
    assert torch.equal(torch.rand(4), expected)
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_run_writes_its_events_and_files(tmp_path: Path) -> None:
    received = Listener()
    result = train(tiny(train={"steps": 7, "validate_every": 3}), tmp_path / "run", listener=received)
    (started,) = received.of(Started)
    assert (started.train_pairs, started.dev_pairs, started.total_steps, started.first_step) == (48, 6, 7, 1)
    assert (started.threads, started.device, started.precision) == (1, "cpu", "float32")
    assert [event.step for event in received.of(Stepped)] == list(range(1, 8))
    assert [event.step for event in received.of(Validated)] == [3, 6, 7], "the end is validated too"
    assert received.of(Validated)[-1].train_loss == pytest.approx(received.of(Stepped)[-1].loss)
    (finished,) = received.of(Finished)
    assert (finished.reason, result.reason, result.steps) == ("steps", "steps", 7)
    assert [entry["event"] for entry in read_journal(tmp_path / "run" / "journal.jsonl")] == [e.kind for e in received]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "best", "curve.png", "journal.jsonl", "last", "recipe.json",
    ]  # fmt: skip
    trained = load_bundle(tmp_path / "run" / "best").manifest.trained
    assert trained == {"steps": result.progress.best_step, "exact_match": result.progress.best_score}
    assert regard.load(tmp_path / "run").translate("3 4 5").source == "3 4 5"


def test_epochs_end_a_run_with_every_pair_seen_equally_often(tmp_path: Path) -> None:
    received = Listener()
    keys = {"steps": None, "epochs": 2, "batch_sentences": 10, "accumulate": 2}
    train(tiny(train=keys), tmp_path / "run", listener=received)
    assert [event.epoch for event in received.of(Stepped)] == [0, 0, 0, 1, 1, 1], "48 pairs are 5 batches, 3 steps"
    assert len(received.of(Validated)) == 2


def test_steps_and_epochs_whichever_comes_first(tmp_path: Path) -> None:
    assert train(tiny(train={"steps": 4, "epochs": 9}), tmp_path / "a").progress.step == 4
    assert train(tiny(train={"steps": 99, "epochs": 1}), tmp_path / "b").progress.step == 6


def test_epochs_of_few_steps_are_reported_before_training(tmp_path: Path) -> None:
    received = Listener()
    train(tiny(train={"steps": None, "epochs": 2}), tmp_path / "a", listener=received)
    assert received.of(Started)[0].notes == (
        "2 epochs are only 12 steps here: to learn more, raise train.epochs or lower train.batch_sentences",
    )
    train(tiny(train={"steps": 2, "epochs": 2}), tmp_path / "b", listener=(chosen := Listener()))
    assert chosen.of(Started)[0].notes == (), "whoever names the steps knows how many they are"


def test_a_note_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"{word}\t{word}\n" for word in map(str, range(100))))
    table = {"kind": "tsv", "train": "pairs.tsv", "base": str(tmp_path), "held_out": 0.1}
    recipe = parse_recipe({**tiny().model_dump(mode="json"), "data": table}, overrides=["train.steps=1"])
    received = Listener()
    train(recipe, tmp_path / "run", listener=received)
    notes = received.of(Started)[0].notes
    assert [note.split(":")[0] for note in notes] == ["no dev file", "no test file"]


def test_token_batches_count_padding_and_bucket_can_be_off(tmp_path: Path) -> None:
    received = Listener()
    keys = {"batch_sentences": None, "batch_tokens": 24, "bucket": False, "steps": None, "epochs": 3}
    result = train(tiny(train=keys), tmp_path / "run", listener=received)
    assert result.progress.epoch == 3
    assert received.of(Started)[0].padding > 0


def test_no_improvement_ends_the_run_early_for_good(tmp_path: Path) -> None:
    keys = {"metric": "loss", "learning_rate": 5.0, "validate_every": 1, "patience": 3, "clip": None, "steps": 60}
    received = Listener()
    result = train(tiny(train=keys), tmp_path / "run", listener=received)
    assert result.reason == "early"
    assert result.progress.step == (result.progress.best_step or 0) + 3 < 60
    assert weights(tmp_path / "run", "best").keys() == weights(tmp_path / "run").keys()
    again = train(tiny(train=keys), tmp_path / "run", resume=True)
    assert (again.steps, again.reason, again.progress) == (0, "early", result.progress)


def test_the_rate_falls_on_a_plateau(tmp_path: Path) -> None:
    keys = {"schedule": "plateau", "plateau_patience": 0, "validate_every": 2, "steps": 8, "learning_rate": 1e-12}
    received = Listener()
    train(tiny(train=keys), tmp_path / "run", listener=received)
    assert [1e12 * event.rate for event in received.of(Stepped)] == pytest.approx([1] * 4 + [0.5] * 2 + [0.25] * 2)


def test_a_falling_loss_is_progress_while_the_score_is_constant(tmp_path: Path) -> None:
    """Most scores are 0 at first: the run must not stop early, nor keep its first weights as the best."""
    keys = {"validate_every": 2, "patience": 1, "average": 2, "learning_rate": 1e-4, "steps": 8}
    recipe, received = tiny(train={**keys, "schedule": "plateau", "plateau_patience": 0}), Listener()
    result = train(recipe, tmp_path / "run", listener=received)
    checks = received.of(Validated)
    assert {check.score for check in checks} == {0.0}
    assert [check.loss for check in checks] == sorted((check.loss for check in checks), reverse=True)
    assert (result.reason, result.progress.best_step, result.progress.plateau) == ("steps", 8, 0)
    assert result.progress.best_loss == checks[-1].loss
    assert [check.best for check in checks] == [True] * 4
    (event,) = received.of(Averaged)
    assert not event.best, "older weights have a higher loss"
    assert equal(weights(tmp_path / "run", "best"), weights(tmp_path / "run"))


def test_a_resumed_run_decides_between_equal_scores_as_an_uninterrupted_one(tmp_path: Path) -> None:
    keys = {"validate_every": 2, "learning_rate": 0.3, "clip": None, "steps": 12}
    whole = train(tiny(train=keys), tmp_path / "whole").progress
    assert (whole.best_score, whole.stale > 0) == (0.0, True), "a rate this high makes the loss rise again"
    checks = entries(tmp_path / "whole", "validated")
    assert whole.best_step == min(checks, key=lambda check: check["loss"])["step"] > 2

    stopped(tiny(train=keys), tmp_path / "run", whole.best_step + 1)
    resumed = train(tiny(train=keys), tmp_path / "run", resume=True).progress
    assert replace(resumed, seconds=0.0) == replace(whole, seconds=0.0)
    for name in ("last", "best"):
        assert equal(weights(tmp_path / "run", name), weights(tmp_path / "whole", name))


def test_averaged_weights_become_the_bundle_where_they_are_better(tmp_path: Path) -> None:
    keys = {"metric": "loss", "validate_every": 2, "average": 3, "learning_rate": 0.2, "clip": None, "steps": 20}
    received = Listener()
    result = train(tiny(train=keys), tmp_path / "run", listener=received)
    kept = sorted((tmp_path / "run" / "average").iterdir())
    assert [path.stem.partition("-")[0] for path in kept] == ["000000016", "000000018", "000000020"]
    (event,) = received.of(Averaged)
    assert event.count == 3
    assert event.best == (event.score < min(one.score for one in received.of(Validated)))
    assert event.best, "a rate this high circles around the minimum"
    assert result.progress.best_score == event.score
    manifest = load_bundle(tmp_path / "run" / "best").manifest
    assert manifest.trained == {"steps": 20, "averaged": 3, "loss": event.score}


def test_mean_weights() -> None:
    parts = [{"a": torch.tensor([value, 2 * value])} for value in (1.0, 2.0, 6.0)]
    assert torch.equal(mean_weights(parts)["a"], torch.tensor([3.0, 6.0]))


def test_fine_tuning_starts_where_another_run_ended(tmp_path: Path) -> None:
    train(tiny(), tmp_path / "first")
    received = Listener()
    other = {
        "data": {"kind": "copy"},
        "train": {"start_from": str(tmp_path / "first"), "steps": 1, "learning_rate": 1e-9},
    }
    train(tiny(**other), tmp_path / "second", listener=received)
    before, after = load_bundle(tmp_path / "first"), load_bundle(tmp_path / "second")
    assert after.source.fingerprint == before.source.fingerprint
    for name, value in before.model.state_dict().items():
        torch.testing.assert_close(after.model.state_dict()[name], value, rtol=0, atol=1e-6)


def test_fine_tuning_may_change_the_dropout_rates(tmp_path: Path) -> None:
    train(tiny(train={"steps": 1}), tmp_path / "first")
    keys = {"start_from": str(tmp_path / "first"), "steps": 1, "learning_rate": 1e-9}
    train(tiny(model={"dropout": 0.4, "embedding_dropout": 0.3}, train=keys), tmp_path / "second")
    before, after = load_bundle(tmp_path / "first"), load_bundle(tmp_path / "second")
    assert (after.model.config.dropout, after.model.config.embedding_dropout) == (0.4, 0.3)
    for name, value in before.model.state_dict().items():
        torch.testing.assert_close(after.model.state_dict()[name], value, rtol=0, atol=1e-6)


def test_fine_tuning_needs_the_same_model_and_text(tmp_path: Path) -> None:
    train(tiny(train={"steps": 1}), tmp_path / "first")
    start = {"train": {"start_from": str(tmp_path / "first")}}
    with pytest.raises(InputError, match=r"another model than the recipe describes: model.decoder_units was 8, is 9"):
        train(tiny(model={"decoder_units": 9}, **start), tmp_path / "second")
    with pytest.raises(
        InputError, match=r"text.source.normalise.lowercase was False, is True; text.source_eos was False"
    ):
        train(
            tiny(text={"source": {"normalise": {"lowercase": True}}, "source_eos": True}, **start), tmp_path / "second"
        )
    with pytest.raises(InputError, match="no bundle at"):
        train(tiny(train={"start_from": str(tmp_path / "nowhere")}), tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_bf16_trains_on_the_cpu_too_and_keeps_its_weights_in_float32(tmp_path: Path) -> None:
    received = Listener()
    train(tiny(train={"precision": "bf16"}), tmp_path / "run", listener=received)
    assert received.of(Started)[0].precision == "bf16"
    assert {value.dtype for value in weights(tmp_path / "run").values()} == {torch.float32}
    train(tiny(), tmp_path / "other")
    assert not equal(weights(tmp_path / "run"), weights(tmp_path / "other"))


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "meta", "cpu:x"])
def test_a_device_that_cannot_be_used_is_refused_in_one_line(device: str, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=rf"^train.device = '{device}' cannot be used here .*: valid choices are auto"
    ) as it:
        train(tiny(train={"device": device}), tmp_path / "run")
    assert "\n" not in str(it.value)
    assert not (tmp_path / "run").exists()


def test_a_model_that_cannot_be_built_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    model = {"tie": "all", "readout": "attentional", "readout_width": 6}
    with pytest.raises(InputError, match=r"^tie = 'all' in \[model\] shares .*13 pieces in the source and 14 in the"):
        train(tiny(text={"target": {"kind": "character"}}, model=model), tmp_path / "run")
    assert not (tmp_path / "run").exists()


TIED = {"tie": "all", "readout": "attentional", "readout_width": 6}


def own_pairs(folder: Path, lines: str, **tables: Any) -> Recipe:
    """The tiny recipe on pairs of two languages."""
    path = folder / "pairs.tsv"
    path.write_text(lines * 8, encoding="utf-8")
    data = {"kind": "tsv", **dict.fromkeys(("train", "dev", "test"), str(path))}
    return parse_recipe({**tiny(**tables).model_dump(), "data": data})


def test_tied_embeddings_need_equal_pieces_not_only_equal_sizes(tmp_path: Path) -> None:
    with pytest.raises(InputError) as it:
        train(own_pairs(tmp_path, "the cat\tle chat\n", model=TIED), tmp_path / "run")
    assert str(it.value) == (
        "tie = 'all' in [model] shares one vocabulary, but piece 4 is 'cat' in the source and 'chat' in the target: "
        "set joint = true in [text], or tie = 'target'"
    )
    assert not (tmp_path / "run").exists()
    joint = prepare(own_pairs(tmp_path, "the cat\tle chat\n", model=TIED, text={"joint": True}))
    assert joint.source.pieces == joint.target.pieces
    prepare(own_pairs(tmp_path, "the cat\tthe cat\n", model=TIED))  # one vocabulary all the same


@pytest.mark.parametrize(
    ("model", "text", "claim"),
    [(TIED, {}, "tie = 'all' in [model]"), ({}, {"joint": True}, "joint = true in [text]")],
)
def test_start_from_brings_vocabularies_that_the_recipe_can_share(
    model: dict[str, Any], text: dict[str, Any], claim: str, tmp_path: Path
) -> None:
    """Runs of earlier versions may hold two vocabularies of one size behind one embedding."""
    recipe = own_pairs(tmp_path, "the cat\tle chat\n", model=model)
    source, target = (Tokenizer.train([text], TokenizerConfig()) for text in ("the cat", "le chat"))
    save_bundle(
        tmp_path / "first", Seq2Seq(recipe.model, len(source), len(target)), source, target, source_eos=False,
        longest_source=9,
    )  # fmt: skip
    keys = {"start_from": str(tmp_path / "first")}
    with pytest.raises(InputError) as it:
        train(own_pairs(tmp_path, "the cat\tle chat\n", model=model, text=text, train=keys), tmp_path / "run")
    assert str(it.value).startswith(f"{claim} shares one vocabulary, but piece 4 is 'cat' in the source and 'chat' in")
    assert str(it.value).endswith(f"in the target of {tmp_path / 'first'}: train a new model, without its vocabularies")
    assert not (tmp_path / "run").exists()


def test_longest_source_is_the_longest_training_source(tmp_path: Path) -> None:
    keys: dict[str, Any] = {"steps": 1, "validate_every": 1}
    pairs = "a b\tx\na b a b a b\tx y\na\ty\n"
    first = train(own_pairs(tmp_path, pairs, train=keys), tmp_path / "first").folder
    model = regard.load(first)
    assert model.longest_source == 6
    assert "too long: only the first 6 of 7 pieces were read" in model.translate("a b a b a b a").warnings
    assert not any("too long" in one for one in model.translate("a b a b a b").warnings)
    limited = train(own_pairs(tmp_path, pairs, text={"longest_source": 9}, train=keys), tmp_path / "limited")
    assert regard.load(limited.folder).longest_source == 9
    keys["start_from"] = str(first)
    tuned = train(own_pairs(tmp_path, "a b\tx\n", train=keys), tmp_path / "tuned").folder
    assert regard.load(tuned).longest_source == 6  # shown in the first training


def spoil(monkeypatch: pytest.MonkeyPatch, steps: range) -> None:
    """Make the loss of these steps NaN."""
    calls = itertools.count(-1)  # the dry run is calls -1 and 0: it fits, and it is timed
    real = optimizer_step.batch_loss

    def loss(*given: Any, **options: Any) -> Losses:
        found = real(*given, **options)
        return Losses(*(value * float("nan") for value in found)) if next(calls) in steps else found

    monkeypatch.setattr(optimizer_step, "batch_loss", loss)


def test_a_step_without_a_finite_gradient_is_skipped_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch, range(3, 5))
    received = Listener()
    train(tiny(train={"steps": 6}), tmp_path / "run", listener=received)
    assert [event.message for event in received.of(Warned)] == [
        "step 3: the gradient is not finite; this update was skipped"
    ]
    assert all(torch.isfinite(value).all() for value in weights(tmp_path / "run").values())
    assert received.of(Validated)[-1].train_loss == received.of(Validated)[-1].train_loss, "the mean leaves them out"
    assert [entry["loss"] is None for entry in entries(tmp_path / "run", "step")] == [
        False,
        False,
        True,
        True,
        False,
        False,
    ]


def test_a_diverged_run_ends_and_keeps_its_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(monkeypatch, range(5, 99))
    with pytest.raises(
        Diverged, match=r"no finite gradient in 20 steps up to step 24: lower train.learning_rate .*is kept"
    ):
        train(tiny(train={"steps": 90, "checkpoint_every": 4, "validate_every": 50}), tmp_path / "run")
    assert training_loop.MOST_SKIPPED == 20
    assert all(torch.isfinite(value).all() for value in weights(tmp_path / "run").values())
    assert load_bundle(tmp_path / "run" / "last").manifest.trained["steps"] == 20


def test_the_largest_batch_is_tried_first_and_later_ones_are_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    real = optimizer_step.batch_loss

    def loss(model: Any, batch: Any, **options: Any) -> Losses:
        tried.append(batch.slots)
        if batch.slots > 75:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return real(model, batch, **options)

    monkeypatch.setattr(optimizer_step, "batch_loss", loss)
    received = Listener()
    result = train(tiny(train={"steps": 12}), tmp_path / "run", listener=received)
    assert result.progress.step == 12
    assert tried[0] == max(tried) > 75
    (note,) = received.of(Started)[0].notes
    assert note.startswith(
        "out of memory with 8 sentences of up to 5 + 6 pieces: batches of this size are split in two"
    )
    assert not received.of(Warned), "what the dry run found out is not found out again"
    assert max(tried[1:]) <= 75


def test_a_validation_that_does_not_fit_is_done_in_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = validate.batch_loss
    recipe = tiny(data={"dev": 9}, train={"steps": 2})
    whole = train(recipe, tmp_path / "whole")

    def loss(model: Any, batch: Any, **options: Any) -> Losses:
        if batch.rows > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return real(model, batch, **options)

    monkeypatch.setattr(validate, "batch_loss", loss)
    received = Listener()
    assert train(recipe, tmp_path / "run", listener=received).progress.best_score == whole.progress.best_score
    before = entries(tmp_path / "whole", "validated")
    assert received.of(Validated)[0].loss == pytest.approx(before[0]["loss"])


def pairs_file(folder: Path, *pairs: tuple[str, str]) -> dict[str, Any]:
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return {"kind": "tsv", **dict.fromkeys(("train", "dev", "test"), str(path))}


def test_validation_compares_with_the_reference_as_the_model_would_write_it(tmp_path: Path) -> None:
    data = pairs_file(tmp_path, ("hi", "salut !"), ("where", "où ?"))
    received = Listener()
    recipe = {**TABLES, "data": data, "train": {**TABLES["train"], "steps": 60, "learning_rate": 0.05}}
    result = train(parse_recipe(recipe), tmp_path / "run", listener=received)
    assert received.of(Validated)[-1].sample == ("hi", "salut!", "salut!")
    assert result.progress.best_score == 1.0


@pytest.mark.parametrize(("side", "pair"), [("source", ("a b c d e", "x")), ("target", ("a", "v w x y z"))])
def test_a_sentence_beyond_the_learned_positions_is_refused_before_anything_is_written(
    side: str, pair: tuple[str, str], tmp_path: Path
) -> None:
    model = {"architecture": "transformer", "width": 8, "heads": 2, "positions": "learned", "longest": 4}
    tables = {**TABLES, "data": pairs_file(tmp_path, ("a", "x"), pair), "model": model}
    more = " (EOS counted)" if side == "target" else ""
    longest = 6 if side == "target" else 5
    remedy = f"raise it to {longest}, or leave long pairs out with [text] longest_{side} = {3 if more else 4}"
    message = f"a {side} of {longest} pieces{more}, but [model] longest = 4: {remedy}"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        train(parse_recipe(tables), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    fits = {"text": {"source_eos": False, f"longest_{side}": 3}}
    assert train(parse_recipe({**tables, **fits}), tmp_path / "run").steps == 12


def test_bpe_dropout_differs_in_every_epoch(tmp_path: Path) -> None:
    text = {"kind": "bpe", "vocabulary": 40, "dropout": 0.4, "source_eos": False}
    data = prepare(tiny(data={"vocabulary": 90}, text=text))
    epochs = [data.batcher_for(epoch).data.source.ids.tolist() for epoch in (0, 1, 2, 1)]
    assert epochs[1] == epochs[3]
    assert epochs[0] != epochs[1] != epochs[2]
    plain = prepare(tiny(data={"vocabulary": 90}, text={**text, "dropout": 0.0}))
    assert plain.batcher_for(5) is plain.batcher
    assert len(plain.batcher.data.source.ids) < len(epochs[0])

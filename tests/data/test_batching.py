"""Batches: each item once an epoch, never more slots than the limit, deterministic for (seed, epoch)."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.data.batch import Batch
from regard.data.batching import EpochBatcher
from regard.data.dataset import EncodedPairs, Sequences
from regard.text.input_error import InputError
from regard.text.special import BOS, EOS, PAD

LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=60)


def sequences(lengths: list[int]) -> Sequences:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Sequences(np.arange(4, 4 + offsets[-1], dtype=np.int32), offsets)


def encoded(lengths: list[tuple[int, int]]) -> EncodedPairs:
    sources, targets = zip(*lengths, strict=True)
    return EncodedPairs(sequences(list(sources)), sequences(list(targets)), np.arange(len(lengths)))


def batches_of(batcher: EpochBatcher, epoch: int = 0) -> list[Batch]:
    return [batcher.batch(items) for items in batcher.plan(epoch)]


@given(LENGTHS, st.integers(31, 200), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 3))
def test_token_batches_cover_each_item_once_within_the_budget(
    lengths: list[tuple[int, int]], tokens: int, bucket: bool, shuffle: bool, source_eos: bool, epoch: int
) -> None:
    batcher = EpochBatcher(encoded(lengths), tokens=tokens, bucket=bucket, shuffle=shuffle, source_eos=source_eos)
    seen: list[int] = []
    largest = batcher.largest_batch()
    for batch in batches_of(batcher, epoch):
        assert batch.source.numel() <= tokens
        assert batch.target_out.numel() <= tokens
        if bucket:
            assert batch.slots <= largest.slots
        seen += batch.indices.tolist()
    assert sorted(seen) == list(range(len(lengths)))
    assert largest.source.numel() <= tokens
    if not shuffle and not bucket:
        assert seen == sorted(seen)


@given(LENGTHS, st.integers(1, 20), st.booleans())
def test_sentence_batches_cover_each_item_once(lengths: list[tuple[int, int]], rows: int, bucket: bool) -> None:
    batches = batches_of(EpochBatcher(encoded(lengths), sentences=rows, bucket=bucket))
    assert sorted(index for batch in batches for index in batch.indices.tolist()) == list(range(len(lengths)))
    assert sum(batch.rows < rows for batch in batches) <= 1
    assert max(batch.rows for batch in batches) <= rows


@given(LENGTHS, st.booleans())
def test_rows_are_the_items_with_their_special_ids(lengths: list[tuple[int, int]], source_eos: bool) -> None:
    data = encoded(lengths)
    for batch in batches_of(EpochBatcher(data, sentences=7, source_eos=source_eos)):
        for row, index in enumerate(batch.indices.tolist()):
            source = data.source[index].tolist() + ([EOS] if source_eos else [])
            target = [BOS, *data.target[index].tolist(), EOS]
            assert batch.source_lengths[row] == len(source)
            assert batch.target_lengths[row] == len(target) - 1
            assert batch.source[row].tolist() == source + [PAD] * (batch.source.shape[1] - len(source))
            assert batch.target[row].tolist() == target + [PAD] * (batch.target.shape[1] - len(target))
        assert torch.equal(batch.source_real.sum(1), batch.source_lengths)
        assert torch.equal((batch.target_out != PAD).sum(1), batch.target_lengths)


@given(LENGTHS, st.integers(0, 2**40), st.integers(0, 5))
def test_seed_and_epoch_determine_the_order(lengths: list[tuple[int, int]], seed: int, epoch: int) -> None:
    first = EpochBatcher(encoded(lengths), tokens=64, seed=seed)
    second = EpochBatcher(encoded(lengths), tokens=64, seed=seed)
    assert [items.tolist() for items in first.plan(epoch)] == [items.tolist() for items in second.plan(epoch)]


def test_epochs_and_seeds_differ() -> None:
    data = encoded([(5, 5)] * 100)
    orders = {
        tuple(np.concatenate(EpochBatcher(data, sentences=8, seed=seed).plan(epoch)).tolist())
        for seed in range(3)
        for epoch in range(3)
    }
    assert len(orders) == 9


def test_the_largest_batch_is_the_largest_of_every_epoch() -> None:
    random = np.random.RandomState(0)
    data = encoded([(int(a), int(b)) for a, b in random.randint(1, 40, (500, 2))])
    batcher = EpochBatcher(data, tokens=200)
    for epoch in range(4):
        assert max(batch.slots for batch in batches_of(batcher, epoch)) == batcher.largest_batch().slots


def test_bucketing_saves_padding() -> None:
    random = np.random.RandomState(0)
    data = encoded([(int(length), int(length)) for length in random.randint(3, 30, 2000)])
    bucketed, mixed = (EpochBatcher(data, sentences=32, bucket=bucket).efficiency() for bucket in (True, False))
    assert bucketed > 0.95 > 0.7 > mixed
    batches = batches_of(EpochBatcher(data, sentences=32))
    assert bucketed == pytest.approx(
        sum(int(batch.source_lengths.sum() + batch.target_lengths.sum()) for batch in batches)
        / sum(batch.slots for batch in batches)
    )


def test_halves_are_the_same_rows_with_no_more_padding_than_needed() -> None:
    batch = EpochBatcher(encoded([(2, 9), (3, 2), (9, 1)]), sentences=3, bucket=False, shuffle=False).batch(
        np.arange(3)
    )
    top, bottom = batch.halves()
    assert top.source.tolist() == [batch.source[0, :3].tolist()]
    assert top.target.shape == (1, 11)
    assert bottom.target.shape == (2, 4)
    assert bottom.indices.tolist() == [1, 2]
    with pytest.raises(ValueError, match="one row cannot be halved"):
        top.halves()


def test_all_tensors_of_a_batch_are_moved() -> None:
    (batch,) = batches_of(EpochBatcher(encoded([(2, 3)]), sentences=1))
    assert {tensor.device.type for tensor in vars(batch.to("meta")).values() if tensor is not None} == {"meta"}


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, "give one of the two"),
        ({"tokens": 8, "sentences": 8}, "give one of the two"),
        ({"sentences": 0}, "sentences = 0 is too few"),
        ({"tokens": 20}, "a sentence of 31 tokens .* raise batch_tokens to 31"),
    ],
)
def test_invalid_sizes_raise(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EpochBatcher(encoded([(3, 30)]), **sizes)


@given(LENGTHS, st.integers(40, 200), st.booleans(), st.sampled_from([2, 5, 8]))
def test_padded_batches_hold_the_same_rows_in_columns_of_whole_multiples(
    lengths: list[tuple[int, int]], tokens: int, bucket: bool, multiple: int
) -> None:
    plain = EpochBatcher(encoded(lengths), tokens=tokens)
    batcher = EpochBatcher(encoded(lengths), tokens=tokens, bucket=bucket, multiple=multiple)
    seen: list[int] = []
    for batch in batches_of(batcher):
        assert batch.source.shape[1] % multiple == batch.target_out.shape[1] % multiple == 0
        assert max(batch.source.numel(), batch.target_out.numel()) <= tokens
        (alone,) = [plain.batch(batch.indices[:1].numpy())]
        width, height = alone.source.shape[1], alone.target.shape[1]
        assert batch.source[0, :width].equal(alone.source[0])
        assert batch.target[0, :height].equal(alone.target[0])
        assert not batch.source[0, width:].any()
        assert not batch.target[0, height:].any()
        seen += batch.indices.tolist()
    assert sorted(seen) == list(range(len(lengths)))


def test_padded_buckets_come_in_few_shapes() -> None:
    random = np.random.RandomState(0)
    lengths = [
        (int(s), int(max(1, s + d)))
        for s, d in zip(random.randint(1, 50, 4000), random.randint(-3, 4, 4000), strict=True)
    ]
    shapes = {
        multiple: {
            (batch.rows, batch.source.shape[1], batch.target_out.shape[1])
            for batch in batches_of(EpochBatcher(encoded(lengths), tokens=200, multiple=multiple))
        }
        for multiple in (1, 8)
    }
    assert len(shapes[8]) < len(shapes[1]) / 4


def test_no_length_ends_in_a_batch_of_a_few_rows() -> None:
    random = np.random.RandomState(0)
    lengths = [(s, max(1, s + d)) for s, d in random.randint((1, -3), (50, 4), (4000, 2)).tolist()]
    batches = batches_of(EpochBatcher(encoded(lengths), tokens=4000, multiple=8))
    filled = [max(batch.source.numel(), batch.target_out.numel()) / 4000 for batch in batches]
    assert sum(share < 0.5 for share in filled) <= 1  # what was left at the end

"""Rows that share a sentence's memory: what is stored, and that code which uses only `Memory` works."""

import pytest
import torch
from torch import Tensor

from candidates import candidates
from regard.attention import BahdanauAttention, LuongDot
from regard.attention.attend import select_sentences
from regard.attention.protocol import Memory
from regard.fast.search.shared_memory import SharedMemory
from regard.models.rnn.decoder import look
from regard.registry import recorded


def memory_of(sentences: int) -> Memory:
    torch.manual_seed(0)
    states = torch.randn(sentences, 5, 6)
    return LuongDot(6).prepare(states, torch.arange(5) < torch.tensor([5, 3, 1, 4][:sentences])[:, None])


def selected(memory: Memory, *rows: int) -> Memory:
    (found,) = select_sentences((memory,), torch.tensor(rows))
    return found


def same(found: Memory, wanted: Memory) -> bool:
    return all(torch.equal(getattr(found, name), getattr(wanted, name)) for name in ("keys", "values", "real"))


def test_nothing_is_copied_while_sentences_stay() -> None:
    memory = memory_of(2)
    first = selected(memory, 0, 0, 1, 1, 1)
    assert isinstance(first, SharedMemory)
    assert first.whole is memory
    assert first.sharing.beam == 3
    again = selected(first, 1, 1, 0, 4, 2, 2)
    assert isinstance(again, SharedMemory)
    assert again.whole is memory
    assert again.sharing.sentence.tolist() == [0, 0, 0, 1, 1, 1]
    assert again.sharing.slot is None
    assert same(again, memory.select(torch.tensor([0, 0, 0, 1, 1, 1])))
    fewer = selected(again, 3, 5)
    assert isinstance(fewer, SharedMemory)
    assert same(fewer.whole, memory.select(torch.tensor([1])))
    assert fewer.sharing.sentence.tolist() == [0, 0]
    alone = selected(fewer, 1)
    assert alone is fewer.whole


def test_layers_share_one_selection_and_a_method_call_gives_the_same() -> None:
    memories, rows = (memory_of(3), memory_of(3)), torch.tensor([2, 2, 0])
    first, second = select_sentences(memories, rows)
    assert isinstance(first, SharedMemory)
    assert isinstance(second, SharedMemory)
    assert first.sharing is second.sharing
    later = torch.tensor([1, 0])
    assert same(first.select(later), memories[0].select(rows).select(later))
    different = select_sentences((first, selected(memories[1], 0, 0, 1)), later)
    assert same(different[1], memories[1].select(torch.tensor([0, 0])))


def test_code_that_uses_only_memory_gets_the_right_tensors() -> None:
    memory, rows = memory_of(3), torch.tensor([2, 2, 0])
    shared, copied = selected(memory, 2, 2, 0), memory.select(rows)
    assert same(shared.extend(shared), copied.extend(copied))
    query = torch.randn(3, 1, 6)
    torch.testing.assert_close(LuongDot(6)(query, shared).context, LuongDot(6)(query, copied).context)


def test_the_stored_tensors_can_be_exchanged() -> None:
    """As captured graphs do; one iterator serves several memories."""
    shared = selected(memory_of(4), 0, 0, 1, 3)
    assert isinstance(shared, SharedMemory)
    assert shared.sharing.slot is not None
    given = iter([tensor.clone() for tensor in shared.tensors()] * 2)
    for _ in range(2):
        other = shared.with_tensors(given)
        assert same(other, shared)
        assert not {id(one) for one in other.tensors()} & {id(one) for one in shared.tensors()}
        assert (other.sharing.beam, len(other.tensors())) == (2, 5)
    assert next(given, None) is None


def test_a_device_is_not_read() -> None:
    """The device `meta` has no values: reading them would raise."""
    states = torch.empty(2, 5, 6, device="meta")
    memory = Memory(states, states, torch.empty(2, 5, dtype=torch.bool, device="meta"))
    shared = select_sentences((memory,), torch.empty(6, dtype=torch.long, device="meta"))[0]
    assert isinstance(shared, SharedMemory)
    assert shared.whole is memory
    assert shared.keys.shape == (6, 5, 6)


def test_hooks_see_each_row_with_its_own_query() -> None:
    attention, seen = BahdanauAttention(6, 6, 8), []
    memory = selected(attention.prepare(torch.randn(2, 5, 6), torch.ones(2, 5, dtype=torch.bool)), 0, 0, 1)
    query = torch.randn(3, 1, 6)
    with recorded() as chosen:
        wanted = look(attention, query, memory, 0)
    assert "look_shared" in chosen

    def hook(module: object, args: tuple[Tensor, ...], output: object) -> None:
        seen.append(args[0].shape)

    with attention.register_forward_hook(hook):
        (choice,) = candidates(look, attention, query, memory, 0)
        seen.clear()
        found = look(attention, query, memory, 0)
    assert "hooks" in (choice.refusal or "")
    assert seen == [(3, 1, 6)]
    torch.testing.assert_close(found.context, wanted.context)
    torch.testing.assert_close(found.weights, wanted.weights)


@pytest.mark.parametrize("trace", [False, True])
def test_a_custom_mechanism_gets_an_ordinary_memory(trace: bool) -> None:
    seen: list[Memory] = []

    class Mine(LuongDot):
        def forward(self, query: Tensor, memory: Memory, *args: object, **options: object) -> object:
            seen.append(memory)
            return super().forward(query, memory, *args, **options)

    memory, query = memory_of(3), torch.randn(3, 1, 6)
    found = look(Mine(6), query, selected(memory, 2, 2, 0), 0, trace=trace)
    assert type(seen[0]) is Memory
    torch.testing.assert_close(found.context, LuongDot(6)(query, memory.select(torch.tensor([2, 2, 0]))).context)

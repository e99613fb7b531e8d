"""Beam search as one ONNX graph: a Loop around the decoder's step, without Python for each token.

The graph is built in memory from the decoder of a folder. A step chooses as `fast/search/beam_slots.py` does: each
sentence has `beam` slots, and a dead slot has the score -inf. TopK puts the lower index of equal values first.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper, parser

from regard.bundle.onnx_manifest import NEW

BLOCK = 64
"""Neighbours in the vocabulary whose maximum is compared first."""
FEWEST = 64
"""Smallest number of blocks for which comparing them first pays."""
INTEGER, DOUBLE, FLOAT, BOOLEAN = TensorProto.INT64, TensorProto.DOUBLE, TensorProto.FLOAT, TensorProto.BOOL
CHOSEN = {"parent": INTEGER, "token": INTEGER, "value": DOUBLE, "score": DOUBLE, "over": BOOLEAN, "faulty": BOOLEAN}
"""The outputs, [step, sentence, slot]: what each step chose, and living slots without a sound candidate before it."""
CARRIED = {"tokens": INTEGER, "s_score": DOUBLE, "s_merits": DOUBLE}
"""The values that pass from step to step besides the decoder's state."""
GIVEN = {
    "s_first": INTEGER, "s_limit": INTEGER, "s_most": DOUBLE, "s_divisors": DOUBLE, "s_banned": FLOAT,
    "s_eos": INTEGER, "s_beam": INTEGER, "s_best": INTEGER, "s_steps": INTEGER,
}  # fmt: skip
"""The values that stay the same: [sentence, 1], the length penalty [length], one for each piece, or one number."""

_ALL = """
    s_values, s_ids = TopK (s_allowed, s_beam)
"""
_BLOCKS = """
    s_parts = Reshape (s_padded, s_by_block)
    s_peaks = ReduceMax <keepdims = 0> (s_parts, s_two)
    s_peak, s_highest = TopK (s_peaks, s_beam)
    s_blocks, s_rank = TopK <largest = 0> (s_highest, s_beam)
    s_column = Unsqueeze (s_blocks, s_two)
    s_wide = Expand (s_column, s_one_block)
    s_inside = GatherElements <axis = 1> (s_parts, s_wide)
    s_near = Reshape (s_inside, s_rows_of_all)
    s_values, s_place = TopK (s_near, s_beam)
    s_which = Div (s_place, s_block)
    s_block_number = GatherElements <axis = 1> (s_blocks, s_which)
    s_before = Mul (s_block_number, s_block)
    s_within = Mod (s_place, s_block)
    s_ids = Add (s_before, s_within)
"""
_CHOICE = """
    s_sum = ReduceSum <keepdims = 0> (logits, s_minus_one)
    s_finite = Less (s_sum, s_ceiling)
    s_row_best = ReduceMax <keepdims = 0> (s_values, s_minus_one)
    s_some = Greater (s_row_best, s_floor)
    s_sound_rows = And (s_finite, s_some)
    s_sound_slots = Reshape (s_sound_rows, s_by_beam)
    s_dead = LessOrEqual (s_score, s_lowest)
    s_sound_or_dead = Or (s_sound_slots, s_dead)
    s_faults = Not (s_sound_or_dead)
    s_doubles = Cast <to = 11> (s_values)
    s_by_slot = Reshape (s_doubles, s_slots)
    s_scores_before = Unsqueeze (s_score, s_two)
    s_sums = Add (s_scores_before, s_by_slot)
    s_totals = Reshape (s_sums, s_candidates)
    s_total, s_order = TopK (s_totals, s_beam)
    s_parent = Div (s_order, s_beam)
    s_all_ids = Reshape (s_ids, s_candidates)
    s_id = GatherElements <axis = 1> (s_all_ids, s_order)
    s_all_values = Reshape (s_doubles, s_candidates)
    s_value = GatherElements <axis = 1> (s_all_values, s_order)
    s_possible = Greater (s_total, s_lowest)
    s_token = Where (s_possible, s_id, s_zero)
    s_is_eos = Equal (s_token, s_eos)
    s_finished = And (s_possible, s_is_eos)
    s_length = Add (s_number, s_one)
    s_is_last = LessOrEqual (s_limit, s_length)
    s_cut = And (s_possible, s_is_last)
    s_over = Or (s_finished, s_cut)
    s_divisor = Gather (s_divisors, s_length)
    s_normalised = Div (s_total, s_divisor)
    s_merit = Where (s_finished, s_normalised, s_lowest)
    s_all_merits = Concat <axis = 1> (s_merits, s_merit)
    s_new_merits, s_merit_order = TopK (s_all_merits, s_best)
    s_to_beat = Gather <axis = 1> (s_new_merits, s_minus_one)
    s_reach = Div (s_total, s_most)
    s_hopeful = Greater (s_reach, s_to_beat)
    s_not_over = Not (s_over)
    s_goes_on = And (s_not_over, s_hopeful)
    s_going = And (s_goes_on, s_possible)
    s_new_score = Where (s_going, s_total, s_lowest)
    s_parent_row = Add (s_first, s_parent)
    s_rows = Reshape (s_parent_row, s_minus_one)
    s_new_tokens = Reshape (s_token, s_minus_one)
    s_highest_score = ReduceMax <keepdims = 0> (s_new_score)
    s_continue = Greater (s_highest_score, s_lowest)
"""
_BEFORE = """
    s_slots = Concat <axis = 0> (s_minus_one, s_beam, s_beam)
    s_by_beam = Concat <axis = 0> (s_minus_one, s_beam)
    s_square = Mul (s_beam, s_beam)
    s_candidates = Concat <axis = 0> (s_minus_one, s_square)
"""


def search_graph(decoder: ModelProto, vocabulary: int) -> ModelProto:
    """Reads the state of every slot (what a step changes under `s_first_state_NAME`), GIVEN and the first CARRIED."""
    step = decoder.graph
    stored = {one.name for one in step.initializer}
    # Computed once: the Loop repeats what is inside of it.
    outside = [node for node in step.node if node.op_type == "Transpose" and set(node.input) <= stored]
    once = {name for node in outside for name in node.output}
    changed = {one.name.removeprefix(NEW): one for one in step.output if one.name.startswith(NEW)}
    kinds = {name: one.type.tensor_type.elem_type for name, one in changed.items()}
    weights = [one.name for one in step.output if one.name == "weights"]
    nodes = [node for node in step.node if not once & set(node.output)] + _nodes(_top(vocabulary) + _CHOICE)
    nodes += [
        helper.make_node("Gather", [one.name, "s_rows"], [f"s_kept_{name}"], axis=0) for name, one in changed.items()
    ]
    carried = {**CARRIED, **kinds}
    after = ["s_new_tokens", "s_new_score", "s_new_merits", *(f"s_kept_{name}" for name in changed)]
    shown = {"s_parent": INTEGER, "s_token": INTEGER, "s_value": DOUBLE, "s_total": DOUBLE, "s_over": BOOLEAN}
    shown |= {"s_faults": BOOLEAN}
    body = helper.make_graph(
        nodes,
        "search step",
        _values({"s_number": INTEGER, "s_goes": BOOLEAN}, []) + _values(carried),
        _values({"s_continue": BOOLEAN, **dict(zip(after, carried.values(), strict=True)), **shown})
        + _values(dict.fromkeys(weights, FLOAT)),
    )
    begin = [f"s_begin_{name}" for name in carried]
    last = [f"s_last_{name}" for name in carried]
    found = {**CHOSEN, **dict.fromkeys((f"s_all_{name}" for name in weights), FLOAT)}
    loop = helper.make_node("Loop", ["s_steps", "", *begin], [*last, *found], body=body)
    unchanged = [one for one in step.input if one.name != "tokens" and one.name not in changed]
    graph = helper.make_graph(
        [*outside, *_nodes(_BEFORE), loop],
        "search",
        _values(GIVEN) + _values(dict(zip(begin, carried.values(), strict=True))) + unchanged,
        _values(found),
        [*step.initializer, *_constants(vocabulary)],
    )
    return helper.make_model(graph, opset_imports=decoder.opset_import, ir_version=decoder.ir_version)


def widest(vocabulary: int) -> int:
    """The widest beam that the graph can search."""
    return _blocks(vocabulary) // 4 or vocabulary


def _blocks(vocabulary: int) -> int:
    """How many blocks the vocabulary is divided into; 0 where it is too small for that."""
    blocks = -(-vocabulary // BLOCK)
    return blocks if blocks >= FEWEST else 0


def _top(vocabulary: int) -> str:
    text = "s_scores = LogSoftmax <axis = -1> (logits) \n s_allowed = Add (s_scores, s_banned) \n"
    if not _blocks(vocabulary):
        return text + _ALL
    filled = "Pad (s_allowed, s_pad, s_floor)" if vocabulary % BLOCK else "Identity (s_allowed)"
    return f"{text} s_padded = {filled} {_BLOCKS}"


def _constants(vocabulary: int) -> list[TensorProto]:
    blocks = _blocks(vocabulary)
    arrays: dict[str, Any] = {
        "zero": np.int64(0), "one": np.int64(1), "two": np.array([2]), "minus_one": np.array([-1]),
        "lowest": np.float64(-np.inf), "floor": np.float32(-np.inf), "ceiling": np.float32(np.inf),
        "by_block": np.array([-1, blocks, BLOCK]), "one_block": np.array([1, 1, BLOCK]),
        "rows_of_all": np.array([0, -1]), "block": np.array([BLOCK]),
        "pad": np.array([0, 0, 0, blocks * BLOCK - vocabulary]),
    }  # fmt: skip
    return [numpy_helper.from_array(np.asarray(array), f"s_{name}") for name, array in arrays.items()]


def _nodes(text: str) -> list[NodeProto]:
    return list(parser.parse_graph(f"search () => () {{ {text} }}").node)


def _values(kinds: Mapping[str, int], shape: list[int] | None = None) -> list[ValueInfoProto]:
    return [helper.make_tensor_value_info(name, kind, shape) for name, kind in kinds.items()]

"""Gives each attention module wrong inputs and prints the errors as JSON; runs without the tests' type checks."""

import json
import sys
from collections.abc import Callable

import torch

from regard.attention import BahdanauAttention, LocalP, build_attention, masked_softmax


def error_of(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def errors(score: str) -> dict[str, str]:
    heads = 2 if score == "multi-head" else 1
    module = build_attention(score, query_width=6, state_width=6, width=8, heads=heads)
    states, query, real = torch.ones(2, 4, 6), torch.ones(2, 3, 6), torch.ones(2, 4, dtype=torch.bool)
    memory = module.prepare(states, real)
    strange = build_attention("additive" if heads == 2 else "multi-head", query_width=6, state_width=6)
    calls: dict[str, Callable[[], object]] = {
        "states' width": lambda: module.prepare(states[..., :5], real),
        "states' axes": lambda: module.prepare(states[0], real[0]),
        "mask's axes": lambda: module.prepare(states, real[0]),
        "mask's size": lambda: module.prepare(states, real[:, :3]),
        "integer mask": lambda: module.prepare(states, real.long()),
        "states' type": lambda: module.prepare(states.tolist(), real),
        "query's width": lambda: module(query[..., :5], memory),
        "query's axes": lambda: module(query[:, 0], memory),
        "memory's type": lambda: module(query, states),
        "memory of another mechanism": lambda: module(query, strange.prepare(states, real)),
    }
    return {name: error_of(call) for name, call in calls.items()}


def window_error() -> str:
    module = BahdanauAttention(6, 6, 8, window=LocalP(2, 5, 8))
    memory = module.prepare(torch.ones(2, 4, 6), torch.ones(2, 4, dtype=torch.bool))
    return error_of(lambda: module(torch.ones(2, 3, 6), memory))


found: dict[str, object] = {score: errors(score) for score in sys.argv[1:]}
found["window"] = window_error()
found["softmax"] = error_of(lambda: masked_softmax(torch.ones(2, 4), torch.ones(2, 4, dtype=torch.int64)))
sys.stdout.write(json.dumps(found))

"""A sentence as the studio's components read it: the JSON of an attention file, docs/reference/http-api.md."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

from regard.plot.attention_map import NO_ATTENTION, AttentionMap, Label, visible

_DIGITS = 4


def document(attention: AttentionMap) -> dict[str, Any]:
    """Labels as pieces, weights as [layer][head][target][source]; words, where the map has them."""
    sides = (attention.source, attention.target)
    words = attention.words
    word_sides = (None, None) if words is None else (words.source, words.target)
    source, target = (_side(*one) for one in zip(sides, word_sides, attention.languages, strict=True))
    facts = dict(attention.facts)
    source["text"] = visible(attention.name, blank=" ") or source["text"]
    target["text"] = facts.pop("translation", "") or target["text"]
    weights = attention.weights
    stack = weights[None, None] if attention.tensor is None and weights is not None else attention.tensor
    gold = words if words is not None and (words.sure or words.possible) else attention
    return {
        "name": attention.title or source["text"],
        "source": source,
        "target": target,
        "attention": None
        if stack is None
        else {
            "shape": list(stack.shape),
            "unit": "piece",
            "layers": list(range(len(stack))),
            "data": stack.round(_DIGITS).tolist(),
        },
        "word_attention": None if words is None or words.weights is None else _word_attention(words),
        "gold": sorted(gold.sure) or None,
        "possible": sorted(gold.possible - gold.sure) or None,
        "links_unit": "piece" if gold is attention else "word",
        "caption": attention.caption or None,
        "no_attention": NO_ATTENTION if weights is None else None,
        "facts": [list(fact) for fact in facts.items()],
    }


def _side(pieces: Sequence[Label], words: Sequence[Label] | None, language: str) -> dict[str, Any]:
    whole = [label.shown for label in (pieces if words is None else words) if not label.special]
    text = " ".join(whole)
    return {
        "text": text,
        "language": language_tag(language) or None,
        "direction": direction(text),
        "pieces": [
            {
                "text": "" if label.special else label.shown,
                "id": 0,
                "span": None,
                "word": None if label.special else 0,
                "special": label.shown if label.special else None,
            }
            for label in pieces
        ],
        "words": [] if words is None else [{"text": word, "span": [0, 0]} for word in whole],
    }


def _word_attention(words: AttentionMap) -> dict[str, Any]:
    weights = words.drawn()
    real = [place for place, label in enumerate(words.source) if not label.special]
    data, whole = weights[:, real], weights.sum(axis=1)
    return {
        "shape": list(data.shape),
        "unit": "word",
        "data": data.round(_DIGITS).tolist(),
        "elsewhere": (whole - data.sum(axis=1)).round(_DIGITS).tolist(),
        "missing": (1 - whole).clip(0).round(_DIGITS).tolist(),
    }


def language_tag(code: str) -> str:
    """A language tag such as fr or hi-Deva; empty for anything else, because a wrong tag misleads screen readers."""
    return code if re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", code) else ""


def direction(text: str) -> Literal["ltr", "rtl"]:
    """The direction of the first letter that has one."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in ("L", "R", "AL"):
            return "ltr" if kind == "L" else "rtl"
    return "ltr"

"""Tokenizer files: JSON with our configuration and the model of the `tokenizers` library."""

import json
import math
from pathlib import Path
from typing import Any, Final

import tokenizers
from pydantic import ValidationError
from tokenizers import models

from regard.bounds import MOST, cut, excerpt
from regard.reading_files import parse_json
from regard.text.input_error import InputError
from regard.text.special import SPECIAL, UNK
from regard.text.tokenizer_config import TokenizerConfig

FORMAT: Final = "regard-tokenizer-1"
_MODELS: Final = {"word": "WordLevel", "character": "WordLevel", "bpe": "BPE", "unigram": "Unigram"}


def to_bytes(config: TokenizerConfig, library: tokenizers.Tokenizer) -> bytes:
    """The content of the file; equal tokenizers give equal bytes."""
    content = {"format": FORMAT, "config": config.model_dump(), "tokenizer": json.loads(library.to_str())}
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def from_bytes(data: bytes, origin: Path) -> tuple[TokenizerConfig, tokenizers.Tokenizer]:
    """Parse the content of a file; `origin` is the path that error messages name."""
    try:
        content = parse_json(data)
    except ValueError as problem:
        raise InputError(
            f"{origin} is not a tokenizer file (not JSON: {problem}); it may be truncated: save it again"
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        given = content.get("format") if isinstance(content, dict) else None
        raise InputError(
            f"{origin} is not a tokenizer file of this version: format is {excerpt(given)}, expected {FORMAT!r}"
        )
    try:
        config = TokenizerConfig.model_validate(content["config"])
        library = content["tokenizer"]
    except KeyError as problem:
        raise InputError(f"{origin} is an incomplete tokenizer file: {problem} is missing; save it again") from None
    except ValidationError as problem:
        first = problem.errors()[0]
        key = cut(".".join(map(str, first["loc"]))) or "config"
        raise InputError(f"{origin}: {key}: {cut(first['msg'])}; was it written by a newer version?") from None
    model = library.get("model") if isinstance(library, dict) else None
    kind = model.get("type") if isinstance(model, dict) else None
    if model is None or kind != _MODELS[config.kind]:
        raise InputError(f"{origin}: its model is {excerpt(kind)}, expected {_MODELS[config.kind]!r} for {config.kind}")
    try:
        return config, tokenizers.Tokenizer(_model(model))
    except Exception as problem:  # the library raises nothing narrower
        raise InputError(f"{origin}: the tokenizers library cannot read its model: {_line(problem)}") from None


def _line(problem: Exception) -> str:
    return cut(" ".join(str(problem).split()))


def _model(content: dict[str, Any]) -> models.Model:
    """The library's model built from the pieces alone: some of its other options make it panic."""
    pieces = content["vocab"]
    if len(pieces) > MOST["vocabulary"]:
        raise ValueError(f"it has {len(pieces):,} pieces, at most {MOST['vocabulary']:,} are allowed")
    if content["type"] == "Unigram":
        scores = [(piece, float(score)) for piece, score in pieces]
        if not all(math.isfinite(score) for _, score in scores):
            raise ValueError("a score is not a finite number")
        return models.Unigram(scores, unk_id=UNK, byte_fallback=False)
    if not isinstance(pieces, dict) or not all(type(one) is int and 0 <= one < len(pieces) for one in pieces.values()):
        raise ValueError("its pieces are not numbered from 0")  # the library would take a string for a path
    if content["type"] == "BPE":
        return models.BPE(pieces, [(left, right) for left, right in content["merges"]], unk_token=SPECIAL[UNK])
    return models.WordLevel(pieces, unk_token=SPECIAL[UNK])

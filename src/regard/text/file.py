"""A tokenizer as one JSON file: our choices, and the model as the `tokenizers` library writes it."""

import json
from pathlib import Path
from typing import Final

import tokenizers
from pydantic import ValidationError

from regard.text.config import TokenizerConfig
from regard.text.errors import InputError

FORMAT: Final = "regard-tokenizer-1"


def to_bytes(config: TokenizerConfig, library: tokenizers.Tokenizer) -> bytes:
    """The same tokenizer gives the same bytes."""
    content = {"format": FORMAT, "config": config.model_dump(), "tokenizer": json.loads(library.to_str())}
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def from_bytes(data: bytes, origin: Path) -> tuple[TokenizerConfig, tokenizers.Tokenizer]:
    """`origin` is the file to name when something is wrong with it."""
    try:
        content = json.loads(data)
    except ValueError as problem:
        raise InputError(
            f"{origin} is no tokenizer file (not JSON: {problem}); it may be cut short, save it anew"
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        given = content.get("format") if isinstance(content, dict) else None
        raise InputError(f"{origin} is no tokenizer file of this version: format is {given!r}, wanted {FORMAT!r}")
    try:
        config = TokenizerConfig.model_validate(content["config"])
        library = tokenizers.Tokenizer.from_str(json.dumps(content["tokenizer"]))
    except KeyError as problem:
        raise InputError(f"{origin} is no whole tokenizer file: {problem} is missing; save it anew") from None
    except ValidationError as problem:
        first = problem.errors()[0]
        key = ".".join(map(str, first["loc"])) or "config"
        raise InputError(f"{origin}: {key}: {first['msg']}; was it written by a newer version?") from None
    except Exception as problem:  # the library raises nothing narrower
        raise InputError(f"{origin}: the tokenizers library cannot read its model: {problem}") from None
    return config, library

"""How links are read out of attention, kept in a small file: what tuning found is repeated on other text."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from regard.alignment import LinkRule, parse_heads
from regard.alignment.extract import Method
from regard.alignment.rule import format_heads
from regard.alignment.symmetrise import WAYS
from regard.bounds import MOST
from regard.bundle.folder import write_whole
from regard.bundle.store import Bundle
from regard.data.lines import find_file
from regard.reading_files import read_json
from regard.runtime.posterior import Evidence, Posterior, unaskable
from regard.text.complaint import complain
from regard.text.errors import InputError

FORMAT: Final = "regard-reading-1"
_STRICT = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


_Head = tuple[Annotated[int, Field(ge=0, lt=MOST["layers"])], Annotated[int, Field(ge=0, lt=MOST["heads"])]]


class Rule(BaseModel):
    """A `LinkRule` in a file."""

    model_config = _STRICT

    heads: tuple[_Head, ...] = ()
    """[layer, head], from 0; the mean of all where none is named."""
    shift: int = Field(default=0, ge=-MOST["longest"], le=MOST["longest"])
    method: Method = "argmax"
    threshold: float | None = None
    null: bool = False

    @model_validator(mode="after")
    def _check(self) -> "Rule":
        self.link_rule()
        return self

    def link_rule(self) -> LinkRule:
        return LinkRule(self.heads, self.shift, self.method, self.threshold, self.null)


class Prior(BaseModel):
    """A `Posterior` in a file."""

    model_config = _STRICT

    prior: float = Field(ge=0, le=10)
    evidence: Evidence = "state"


class Reading(BaseModel):
    """One direction's rule; of two directions both, alone and as they are joined, and the way they are joined."""

    model_config = _STRICT

    format: Literal["regard-reading-1"] = FORMAT
    forward: Rule
    backward: Rule | None = None
    forward_joined: Rule | None = None
    """Where it is another one than the direction's own."""
    backward_joined: Rule | None = None
    symmetrise: str | None = None
    posterior: Prior | None = None
    development: float | None = None
    """The alignment error rate that it had where it was tuned; says nothing about how to read."""

    @model_validator(mode="after")
    def _check(self) -> "Reading":
        if (self.backward is None) != (self.symmetrise is None):
            raise ValueError("backward and symmetrise go together: two directions are joined in some way")
        if self.symmetrise is not None and self.symmetrise not in WAYS:
            raise ValueError(f"no symmetrisation '{self.symmetrise}': valid choices are {', '.join(WAYS)}")
        if self.backward is None and (self.forward_joined or self.backward_joined):
            raise ValueError("forward_joined and backward_joined are of two directions: backward is missing")
        return self

    def ask(self) -> Posterior | None:
        return None if self.posterior is None else Posterior(self.posterior.prior, self.posterior.evidence)


def rule_of(rule: LinkRule | None) -> Rule | None:
    return None if rule is None else Rule(**asdict(rule))


def save_reading(path: Path, reading: Reading) -> None:
    """Replaced in one move; what is the default or unknown is left out."""
    content = reading.model_dump(exclude_none=True)
    write_whole(path, json.dumps(content, indent=1) + "\n")


def load_reading(path: Path) -> Reading:
    """What `save_reading` wrote, or what is wrong with the file."""
    find_file(path)  # says what there is instead
    try:
        content = read_json(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path} says nothing about how links are read: wanted what --save-reading writes")
    try:
        return Reading.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}: {complain(error, Reading)}") from None


def check_made_for(bundle: Bundle, rule: LinkRule, posterior: Posterior | None, path: Path) -> None:
    """Refuse heads that this model does not have, and what it cannot be asked: the reading is another model's."""
    if posterior is not None and (kind := unaskable(bundle.model)):
        raise InputError(
            f"{path} was not made for {bundle.path}: it says {posterior.describe()}, which {kind} cannot be asked"
        )
    try:
        if rule.heads:
            parse_heads(format_heads(rule.heads), *bundle.model.config.attention_shape)
    except ValueError as error:
        raise InputError(f"{path} was not made for {bundle.path}: {error}") from None

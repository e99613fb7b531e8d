"""Settings of `regard align`: the request, the keys of --set, and the file of --settings and --save-settings."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from regard.alignment import LinkRule, parse_heads
from regard.alignment.extract import Method
from regard.alignment.rule import format_heads
from regard.alignment.symmetrise import Method as LinkSymmetrisation
from regard.bounds import MOST, cut
from regard.bundle.bundle_folder import write_whole
from regard.bundle.store import Bundle
from regard.data.lines import find_file
from regard.lab.parallel import check_one_input
from regard.reading_files import read_json
from regard.runtime.posterior import Evidence, Posterior, undefined_for
from regard.text.complaint import complain
from regard.text.input_error import InputError

Symmetrisation = Literal[LinkSymmetrisation, "product"]
PRIORS = (0.1, 0.3, 0.5, 1.0, 1.5)
"""The exponents of attention that `posterior=tune` tries."""
RULE_KEYS = ("heads", "shift", "method", "threshold", "null")
SETTINGS_KEYS = (*RULE_KEYS, "posterior", "evidence", "symmetrise", "dev_source", "dev_target", "dev_gold")
FORMAT: Final = "regard-reading-1"
_STRICT = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_Shift = Annotated[int, Field(ge=-MOST["longest"], le=MOST["longest"])]
_Head = tuple[Annotated[int, Field(ge=0, lt=MOST["layers"])], Annotated[int, Field(ge=0, lt=MOST["heads"])]]
_Base = Annotated[int, Field(ge=0, le=1)]


class AlignOptions(BaseModel):
    """The keys of `regard align --set KEY=VALUE`; `regard align --help` explains them."""

    model_config = _STRICT

    heads: str | None = None
    shift: _Shift | None = None
    """None: the shift of guided training; 0 without guidance or with a posterior."""
    method: Method = "argmax"
    threshold: float | None = Field(default=None, ge=0, le=1)
    null: bool = False
    posterior: Annotated[float, Field(ge=0, le=10)] | Literal["tune"] | None = None
    """The exponent of attention when it serves as the prior; None: links come from attention itself."""
    evidence: Evidence | None = None
    symmetrise: Symmetrisation | None = None
    dev_source: Path | None = None
    dev_target: Path | None = None
    dev_gold: Path | None = None
    gold_base: _Base | None = None
    flip_gold: bool = False
    format: Literal["pharaoh", "naacl"] = "pharaoh"
    base: _Base | None = None
    entropy: bool = False
    longest_source: int | None = Field(default=None, ge=1, le=MOST["longest"])

    @model_validator(mode="after")
    def _check(self) -> "AlignOptions":
        self.rule  # noqa: B018  (raises if the keys contradict each other)
        if any(self.development) and not all(self.development):
            raise ValueError("a development set needs dev_source, dev_target and dev_gold: set all three")
        if self.evidence is not None and self.posterior is None:
            raise ValueError("evidence needs a posterior: set posterior too, 1 is Bayes' rule")
        return self

    @classmethod
    def parse(cls, pairs: Iterable[str]) -> "AlignOptions":
        given = {}
        for pair in pairs:
            key, equals, value = pair.partition("=")
            if not equals:
                raise InputError(f"--set {cut(pair)}: write KEY=VALUE, as in --set symmetrise=union")
            given[key.strip()] = value.strip()
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise InputError(f"--set: {complain(error, cls)}") from None

    @property
    def rule(self) -> LinkRule:
        """The rule without heads, whose names depend on the model."""
        return LinkRule((), self.shift or 0, self.method, self.threshold, self.null)

    @property
    def development(self) -> tuple[Path | None, Path | None, Path | None]:
        return self.dev_source, self.dev_target, self.dev_gold

    @property
    def posteriors(self) -> tuple[Posterior | None, ...]:
        """The sources of links: attention (None) or a posterior; several if tuning chooses among them."""
        if self.posterior is None:
            return (None,)
        if self.posterior == "tune":
            kinds = get_args(Evidence) if self.evidence is None else (self.evidence,)
            return (None, *(Posterior(prior, kind) for kind in kinds for prior in PRIORS))
        return (Posterior(self.posterior, self.evidence or "state"),)

    def given(self, *keys: str) -> list[str]:
        """The members of `keys` that were set."""
        return [key for key in keys if key in self.model_fields_set]


@dataclass(frozen=True)
class AlignRequest:
    bundle: Path
    options: AlignOptions = field(default_factory=lambda: AlignOptions())
    reverse: Path | None = None
    data: Path | None = None
    source: Path | None = None
    target: Path | None = None
    split: str | None = None
    """A split of the recipe's data; None means test."""
    spaces: bool = False
    """Whether links count the words that white space separates instead of the model's."""
    tune: bool = False
    gold: Path | None = None
    settings: Path | None = None
    device: str = "cpu"
    trust: tuple[str, ...] = ()
    """The classes outside regard that a bundle may name."""

    @property
    def tunes(self) -> bool:
        return self.tune or any(self.options.development)

    def check(self) -> None:
        """Raise for contradictory options before any model is loaded."""
        options = self.options
        check_one_input(self.data, self.source, self.target, self.split)
        if self.target is not None and self.source is None:
            raise InputError("--target needs --source: links join the lines of both")
        if self.source is not None and self.target is None and self.gold is not None:
            raise InputError("--gold needs a given translation: name it with --target")
        if options.symmetrise is not None and self.reverse is None:
            raise InputError("symmetrise needs two directions: name the model of the other one with --reverse")
        if self.gold is None and options.given("gold_base", "flip_gold") and not any(options.development):
            raise InputError("gold_base and flip_gold apply to a file of gold links: name it with --gold")
        if self.tunes and (chosen := options.given(*RULE_KEYS)):
            names = ", ".join(chosen)
            raise InputError(f"--tune finds {names} itself: leave --tune or {names} out")
        if len(options.posteriors) > 1 and not self.tunes:
            raise InputError("posterior=tune is chosen on a development set: add --tune, or give a number")
        if self.settings is not None:
            also = [*(["--tune"] if self.tune else []), *options.given(*SETTINGS_KEYS)]
            if also:
                names = ", ".join(also)
                raise InputError(f"--settings {self.settings} already sets how links are extracted: leave {names} out")


class Extraction(BaseModel):
    """A `LinkRule` in a settings file."""

    model_config = _STRICT

    heads: tuple[_Head, ...] = ()
    """[layer, head], from 0; the mean of all if none is named."""
    shift: _Shift = 0
    method: Method = "argmax"
    threshold: float | None = None
    null: bool = False

    @model_validator(mode="after")
    def _check(self) -> "Extraction":
        self.link_rule()
        return self

    def link_rule(self) -> LinkRule:
        return LinkRule(self.heads, self.shift, self.method, self.threshold, self.null)


class Prior(BaseModel):
    """A `Posterior` in a settings file."""

    model_config = _STRICT

    prior: float = Field(ge=0, le=10)
    evidence: Evidence = "state"


class AlignSettings(BaseModel):
    """A settings file: the rules of each direction, alone and for symmetrised links, and the symmetrisation."""

    model_config = _STRICT

    format: Literal["regard-reading-1"] = FORMAT
    forward: Extraction
    backward: Extraction | None = None
    forward_joined: Extraction | None = None
    """The rule for symmetrised links, where it differs from the direction's own."""
    backward_joined: Extraction | None = None
    symmetrise: Symmetrisation | None = None
    posterior: Prior | None = None
    development: float | None = None
    """For information: the alignment error rate on the development set."""

    @model_validator(mode="after")
    def _check(self) -> "AlignSettings":
        if (self.backward is None) != (self.symmetrise is None):
            raise ValueError("backward and symmetrise need each other: set both, or neither for one direction")
        if self.backward is None and (self.forward_joined or self.backward_joined):
            raise ValueError("forward_joined and backward_joined need two directions: backward is missing")
        return self

    def save(self, path: Path) -> None:
        """Write the file atomically, without the keys that are None."""
        write_whole(path, json.dumps(self.model_dump(exclude_none=True), indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> "AlignSettings":
        find_file(path)  # raises for a missing file, with the nearest name
        try:
            content = read_json(path)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        except ValueError:
            content = None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise InputError(f"{path} holds no alignment settings: expected a file that --save-settings wrote")
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise InputError(f"{path}: {complain(error, cls)}") from None

    def to_posterior(self) -> Posterior | None:
        return None if self.posterior is None else Posterior(self.posterior.prior, self.posterior.evidence)

    def rules_for(self, bundle: Bundle, rules: Iterable[Extraction | None], path: Path) -> list[LinkRule | None]:
        """`rules` as link rules; raises for heads or a posterior that the model of `bundle` does not have."""
        posterior = self.to_posterior()
        if posterior is not None and (kind := undefined_for(bundle.model)):
            raise InputError(
                f"{path} was not made for {bundle.name}: it sets {posterior.describe()}, "
                f"which is not defined for {kind}"
            )
        found = [None if rule is None else rule.link_rule() for rule in rules]
        try:
            for rule in found:
                if rule is not None and rule.heads:
                    parse_heads(format_heads(rule.heads), *bundle.manifest.model.attention_shape)
        except ValueError as error:
            raise InputError(f"{path} was not made for {bundle.name}: {error}") from None
        return found

"""What `regard align` was asked for: options as they were given, and what does not go together."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from regard.alignment import LinkRule
from regard.alignment.extract import Method
from regard.lab.align import METHODS
from regard.lab.tuning import PRIORS
from regard.runtime.posterior import Evidence, Posterior
from regard.text.errors import InputError

TUNE = "tune"


@dataclass(frozen=True)
class Asked:
    """What the command line says."""

    bundle: Path
    reverse: Path | None = None
    data: Path | None = None
    source: Path | None = None
    target: Path | None = None
    split: str | None = None
    """Of the recipe's data where none is named; None: test."""
    symmetrise: str | None = None
    spaces: bool = False
    rule: LinkRule = field(default_factory=LinkRule)
    heads: str | None = None
    shift: int | None = None
    """As in the rule; None: what training taught."""
    tune: bool = False
    dev: tuple[Path | None, Path | None, Path | None] = (None, None, None)
    gold: Path | None = None
    gold_base: int | None = None
    flip_gold: bool = False
    entropy: bool = False
    posteriors: tuple[Posterior | None, ...] = (None,)
    """What links are read from, None is attention itself; of several tuning takes the best."""
    reading: Path | None = None
    """A file that says all this about the rules, as tuning found it."""
    longest_source: int | None = None
    device: str = "cpu"
    trust: tuple[str, ...] = ()
    """The classes outside regard that a bundle may name."""

    def check(self) -> None:
        """Refuse what does not go together before any model is loaded."""
        if self.data is not None and (self.source is not None or self.target is not None):
            raise InputError(f"{self.data} and --source or --target were both given: leave one of them out")
        given = self.data or self.source
        if given is not None and self.split is not None:
            raise InputError(f"{given} and --split were both given: leave one of them out")
        if self.target is not None and self.source is None:
            raise InputError("--target needs --source: links join the lines of both")
        if self.symmetrise is not None and self.symmetrise not in METHODS:
            raise InputError(f"no symmetrisation '{self.symmetrise}': valid choices are {', '.join(METHODS)}")
        if self.symmetrise is not None and self.reverse is None:
            raise InputError("--symmetrise joins two directions: name the model of the other one with --reverse")
        if any(self.dev) and not all(self.dev):
            raise InputError("--dev-source, --dev-target and --dev-gold go together")
        if self.gold is None and (self.gold_base is not None or self.flip_gold) and not any(self.dev):
            raise InputError("--gold-base and --flip-gold say how --gold is read: name that file too")
        chosen = ", ".join(self._chosen)
        if self.tunes and chosen:
            raise InputError(f"--tune finds {chosen} itself: leave one of them out")
        if len(self.posteriors) > 1 and not self.tunes:
            raise InputError("--posterior tune is chosen on a development set: say --tune, or give a number")
        self._check_reading()
        if self.source is not None and self.target is None and self.gold is not None:
            raise InputError("--gold is about a given translation: name it with --target")

    def _check_reading(self) -> None:
        if self.reading is None:
            return
        given = {
            "--tune": self.tune,
            "--dev-source, --dev-target, --dev-gold": any(self.dev),
            "--posterior": self.posteriors != (None,),
            "--symmetrise": self.symmetrise is not None,
        }
        also = [*self._chosen, *(option for option, is_given in given.items() if is_given)]
        if also:
            raise InputError(f"--reading {self.reading} says how links are read: leave {', '.join(also)} out")

    @property
    def _chosen(self) -> list[str]:
        """The options that say how links are read, as far as they were given."""
        given = {
            "--heads": self.heads is not None,
            "--shift": self.shift is not None,
            "--method": self.rule.method != "argmax",
            "--threshold": self.rule.threshold is not None,
            "--null": self.rule.null,
        }
        return [option for option, is_given in given.items() if is_given]

    @property
    def tunes(self) -> bool:
        return self.tune or any(self.dev)


def link_rule(method: str, threshold: float | None, shift: int, null: bool) -> LinkRule:
    """The rule that options describe, or what is wrong with them."""
    if method not in get_args(Method):
        raise InputError(f"no method '{method}': valid choices are {', '.join(get_args(Method))}")
    try:
        return LinkRule((), shift, "threshold" if method == "threshold" else "argmax", threshold, null)
    except ValueError as error:
        raise InputError(str(error)) from None


def ask_posteriors(
    prior: str | None, evidence: str | None, reading: Path | None = None
) -> tuple[Posterior | None, ...]:
    """What the options --posterior and --evidence mean together: one way to read, or those that tuning tries."""
    if prior is None:
        if evidence is not None and reading is not None:
            raise InputError(f"--reading {reading} says how links are read: leave --evidence out")
        if evidence is not None:
            raise InputError(
                f"--evidence {evidence} says what --posterior asks: give --posterior X too, 1 is Bayes' rule"
            )
        return (None,)
    if prior == TUNE:
        kinds = get_args(Evidence) if evidence is None else (evidence,)
        return (None, *(Posterior(power, kind) for kind in kinds for power in PRIORS))
    try:
        return (Posterior(float(prior), evidence or "state"),)
    except ValueError:
        raise InputError(f"--posterior {prior}: wanted a number from 0 to 10 (1: Bayes' rule), or tune") from None

"""Scoring protocols by name: how translations and references are prepared for sacrebleu."""

from collections.abc import Callable
from dataclasses import dataclass

from regard.evaluation import bleu
from regard.text.input_error import InputError
from regard.text.moses import LANGUAGES, tokenise
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Protocol:
    """`reference` prepares references, `hypothesis` translations; then sacrebleu's tokenizer splits both."""

    name: str
    about: str
    hypothesis: Callable[[str], str]
    reference: Callable[[str], str]
    tokenize: str = "13a"
    lowercase: bool = False
    """Whether both are lower-cased; passed to sacrebleu for its signature."""


NAMES = ("model", "raw", "lowercase", *(f"multi30k-{language}" for language in LANGUAGES))


def find_protocol(name: str, target: Tokenizer | None = None, tokenize: str | None = None) -> Protocol:
    """A protocol by its name.

    model      references as the model could write them: case counts only where it knows case
    raw        both unchanged
    lowercase  both lower-cased
    multi30k-L (en, de, fr) both lower-cased, punctuation normalised, cut into Moses tokens: the published scores
    """
    if name not in NAMES:
        raise InputError(f"no protocol '{name}': valid choices are {', '.join(NAMES)}")
    if name.startswith("multi30k-"):
        if tokenize not in (None, "none"):
            raise InputError(f"protocol {name} cuts the tokens itself: leave --tokenize {tokenize} out")
        language = name.removeprefix("multi30k-")

        def cut(text: str) -> str:
            return tokenise(text.lower(), language)

        return Protocol(name, "lower-cased, punctuation normalised, Moses tokens", cut, cut, "none", lowercase=True)
    chosen = tokenize or "13a"
    _check_tokenizer(chosen)
    if name == "lowercase":
        return Protocol(name, "lower-cased", str.lower, str.lower, chosen, lowercase=True)
    if name == "raw" or target is None:
        return Protocol("raw", "unchanged", str, str, chosen)
    return Protocol(name, "references as the model could write them", str, target.written, chosen)


def _check_tokenizer(name: str) -> None:
    """Raise sacrebleu's error before the translation instead of after it."""
    import sacrebleu  # noqa: F401  # a missing package is not a wrong tokenizer

    try:
        bleu(["a"], ["a"], tokenize=name)
    except (ValueError, ImportError, RuntimeError) as error:
        raise InputError(f"--tokenize {name}: {' '.join(str(error).split())}") from error

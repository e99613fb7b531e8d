"""Upper limits on what recipes, options and files may request, in one table; imports nothing of ours.

docs/bounds.md shows the same table; `python -c "from regard.bounds import table; print(table())"` prints it.
"""

from reprlib import Repr
from typing import Any, Final

_KIB, _MIB = 1 << 10, 1 << 20

_TABLE: Final = (
    # name, maximum, what it applies to
    ("width", 16_384, "units, and every width of a model but `feedforward`"),
    ("feedforward", 65_536, "`model.feedforward`"),
    ("layers", 64, "layers of an encoder or a decoder"),
    ("heads", 256, "attention heads in a layer"),
    ("parameters", 2_000_000_000, "parameters of a model"),
    ("vocabulary", 1_000_000, "pieces of a tokenizer, symbols of a synthetic task, `search.top_k`"),
    (
        "longest",
        100_000,
        "pieces or words of a text: every `longest…`, `search.longest.offset`, `model.reach`",
    ),
    ("factor", 100, "`search.longest.factor`"),
    ("penalty", 10, "`search.length_penalty`, `search.coverage_penalty`"),
    ("beam", 1_000, "`--beam`, `--nbest`, `search.beam`, `search.nbest`"),
    ("search", 1_000_000, "pieces of all hypotheses of one text: beam × `longest`, or a forced translation"),
    (
        "weights",
        500_000_000,
        "attention weights that a search keeps: hypotheses × pieces written × layers × heads × pieces read; in a "
        "layer of a Transformer's encoder: heads × pieces read²",
    ),
    ("count", 1_000_000_000, "pairs, sentences and occurrences that are counted or limited"),
    ("sentences", 10_000_000, "the number of a sentence in a file of links"),
    ("generated", 10_000_000, "pairs that a synthetic task makes for one split"),
    ("steps", 1_000_000_000, "`train.steps`, and everything else in [train] that counts steps"),
    ("epochs", 1_000_000, "`train.epochs`, and every patience, which counts validations"),
    ("batch_sentences", 100_000, "`train.batch_sentences`"),
    ("batch_tokens", 10_000_000, "`train.batch_tokens`"),
    (
        "repeats",
        10_000,
        "`train.accumulate`, `train.average`, `train.pad_to`, `--repeats`, pictures of a comparison",
    ),
    ("seeds", 1_000, "`--seeds`, `seeds` of a comparison"),
    ("threads", 1_024, "`train.threads`, `--threads`, `--jobs`"),
    ("seed", 2**63 - 1, "every seed, positive or negative"),
    ("columns", 10_000, "the number of a column"),
    ("file", 2**63 - 1, "bytes of any file in a manifest; of weights, 8 for each parameter"),
    ("recipe", 256 * _KIB, "bytes of a recipe or a comparison"),
    ("document", 16 * _MIB, "bytes of a manifest or another small JSON file"),
    ("tokenizer", 64 * _MIB, "bytes of a tokenizer's file"),
    ("journal", 1024 * _MIB, "bytes of a run's journal or a file of links"),
    ("header", 8 * _MIB, "bytes of the header of weights"),
    ("tensors", 20_000, "tensors in a file of weights"),
    ("onnx", 4 * 1024 * _MIB, "bytes that onnxruntime allocates in a process"),
    ("column", 1024 * _MIB, "bytes of one column in a row group of a Parquet file, unpacked"),
    ("line", 16 * _MIB, "bytes of a line of data, characters of a field of a record"),
    ("nesting", 64, "levels of lists and tables in JSON and TOML"),
    ("containers", 1_200_000, "lists and tables in a JSON file"),
    ("values", 4_000_000, "commas in a JSON file"),
    ("message", 1_400, "characters of an error message"),
    ("quoted", 80, "characters of a value that an error message quotes"),
)
MOST: Final[dict[str, int]] = {name: most for name, most, _ in _TABLE}


def table() -> str:
    """The table in Markdown."""
    rows = (f"| {name} | {most:,} | {what} |" for name, most, what in _TABLE)
    return "\n".join(("| name | at most | applies to |", "|---|---|---|", *rows))


def excerpt(value: object) -> str:
    """The `repr` of a value, shortened for a message."""
    return cut(_EXCERPT.repr(value), MOST["quoted"])


def cut(text: str, most: int = 2 * MOST["quoted"]) -> str:
    """The text, shortened with … if it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_middle(text: str) -> str:
    """A long message without its middle: the problem is at its beginning and the remedy at its end."""
    most, end = MOST["message"], MOST["message"] // 4
    return text if len(text) <= most else f"{text[: most - end - 3]} … {text[-end:]}"


class _Excerpt(Repr):
    """Describes large integers by their number of digits: Python raises for those of more than 4,300."""

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() < 128 else f"a number of about {int(x.bit_length() * 0.30103):,} digits"

    def repr_instance(self, x: Any, level: int) -> str:
        return cut(super().repr_instance(x, level), self.maxother)


_EXCERPT = _Excerpt()
_EXCERPT.maxstring = _EXCERPT.maxother = MOST["quoted"]

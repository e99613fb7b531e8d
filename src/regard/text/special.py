"""The four ids that every vocabulary begins with."""

from typing import Final

PAD: Final = 0
UNK: Final = 1
BOS: Final = 2
EOS: Final = 3

SPECIAL: Final[tuple[str, ...]] = ("<pad>", "<unk>", "<s>", "</s>")
"""Their names, by id."""

UNKNOWN: Final = "⁇"
"""What an unknown piece looks like in decoded text when nothing replaces it."""

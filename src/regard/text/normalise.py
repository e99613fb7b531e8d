"""Normalises raw text: white space, control characters, Unicode form, case, apostrophes, final stop, sentences."""

import re
import unicodedata
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from regard.text.input_error import InputError

MARK: Final = "▁"
"""Opens a piece that follows a space (see `pieces`); in raw text it becomes an underscore."""

_STOPS = ".।。 "
# Controls, bidirectional marks, soft hyphens and byte-order marks; not joiners (200c, 200d), which spell words.
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_STRAIGHT = str.maketrans(dict.fromkeys("“”„‟", '"'))
_SURROGATE = re.compile("[\ud800-\udfff]")


class Normaliser(BaseModel):
    """Collapses white space, removes control characters, and does what its fields request.

    >>> Normaliser(lowercase=True, drop_final_stop=True)("  The cat’s\\tmat. ")
    "the cat's mat"
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    lowercase: bool = False
    """Whether capitals become small letters."""
    apostrophes: bool = True
    """’ and ʼ become '."""
    drop_final_stop: bool = False
    """Whether final full stops (also । and 。) are removed, unless nothing else is left."""
    complete: bool = False
    """Whether a text becomes like the sentences of a corpus: a capital, final punctuation, "" for “”, no CAPITALS."""
    form: Literal["NFC", "NFKC", "NFD"] = "NFC"
    """Unicode form. NFD decomposes: é is e and an accent, a Korean syllable its two or three letters."""

    @model_validator(mode="after")
    def _agree(self) -> "Normaliser":
        if self.complete and (self.lowercase or self.drop_final_stop):
            raise ValueError("complete adds a capital and a final stop: leave out lowercase and drop_final_stop")
        return self

    def __call__(self, text: str) -> str:
        if not text.isascii():
            text = self._compose(text)
        elif self.lowercase:
            text = text.lower()
        if not text.isprintable():
            text = _UNSEEN.sub("", text)
        text = " ".join(text.split())
        if self.drop_final_stop and text[-1:] in _STOPS:
            text = text.rstrip(_STOPS) or text
        return self._completed(text) if self.complete and text else text

    def _completed(self, text: str) -> str:
        """Small letters for several words in capitals, straight quotation marks, a first capital, a final full stop."""
        if text.isupper() and " " in text:
            text = text.lower()
        text = text.translate(_STRAIGHT)
        capital = text[0].upper()
        text = capital + text[1:] if len(capital) == 1 else text
        stop = "" if unicodedata.category(text[-1])[0] == "P" else "."
        return unicodedata.normalize(self.form, text) + stop

    def _compose(self, text: str) -> str:
        """The steps that only non-ASCII text needs."""
        if not text.isprintable():
            if lone := _SURROGATE.search(text):
                raise InputError(
                    f"character {lone.start()} of {text[:20]!r} is half of a surrogate pair, not a character: "
                    "the text was decoded wrongly; read it as UTF-8"
                )
            text = _UNSEEN.sub("", text.replace("\u200b", " "))
        text = unicodedata.normalize(self.form, text.replace(MARK, "_"))
        if self.apostrophes:
            text = text.replace("’", "'").replace("ʼ", "'")
        if self.lowercase:
            text = unicodedata.normalize(self.form, text.lower())
        return text

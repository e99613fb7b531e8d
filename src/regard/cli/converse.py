"""A conversation on a terminal: type a sentence, see its translation and where the model looked."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from regard.cli.screen import Warnings, console, show_map, warn
from regard.runtime.translation import Translation
from regard.runtime.translator import Translator
from regard.text.errors import InputError

if TYPE_CHECKING:
    from regard.cli.translate import Form


def converse(translator: Translator, search: dict[str, Any], form: "Form") -> list[Translation]:
    """Everything that was translated, when the person is done."""
    with suppress(ImportError):
        import readline  # noqa: F401  (gives `input` a history and the arrow keys)
    sys.stderr.write("Type a sentence; an empty line ends.\n")
    done: list[Translation] = []
    while line := _ask():
        try:
            translation = translator.translate(line, **search)
        except InputError as error:
            warn(str(error))
            continue
        Warnings().tell(translation)
        form.write(translation, len(done) + 1, sys.stdout)
        if translation.source_words and not (form.json or form.alignment or form.walk):
            show_map(console(), translation)
        sys.stdout.flush()
        done.append(translation)
    return done


def _ask() -> str:
    while True:
        try:
            return input("> ").strip()
        except EOFError:
            sys.stdout.write("\n")
            return ""
        except UnicodeDecodeError:
            warn("that was not UTF-8: set the terminal's encoding, and try again")

"""Translate text: arguments, a file, standard input, or a prompt on a terminal; one output line for each input line."""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

if TYPE_CHECKING:
    from regard.runtime.translation import Translation
    from regard.runtime.translator import Translator

CHUNK = 256
"""Lines translated together from a stream: enough to batch well, few enough to see progress."""


def translate(
    bundle: Annotated[Path, typer.Argument(help="A bundle or run folder.")],
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="Standard input if left out.")] = None,
    input_: Annotated[Path | None, typer.Option("--input", help="Read lines from this file.")] = None,
    output: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="Beam width; the recipe's if left out.")] = None,
    nbest: Annotated[int, typer.Option(min=1, help="How many translations for each line.")] = 1,
    ensemble: Annotated[list[Path], typer.Option(help="A further bundle that votes (repeatable).")] = [],  # noqa: B006
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, attention included.")] = False,
    alignment: Annotated[bool, typer.Option("--alignment", help="Add a tab and word links, 0-based source-target.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with heat-maps here.")] = None,
    walk: Annotated[bool, typer.Option("--walk", help="Show step by step where the model looked.")] = False,
) -> None:
    from regard.runtime.translator import load
    from regard.text.errors import InputError

    if texts and input_ is not None:
        raise InputError("give texts or --input, not both")
    search = {"nbest": nbest, **({} if beam is None else {"beam": beam})}
    translator = load([bundle, *ensemble])
    prompt = not texts and input_ is None and sys.stdin.isatty()
    shown: list[Translation] = []
    with _Writer(output) as file:
        if prompt:
            _converse(translator, search, walk)
            return
        total = 0
        for batch in _chunks(_lines(texts or [], input_)):
            results = translator.translate(batch, **search)
            _warn(results, total)
            for translation in results:
                _print(translation, file, as_json=as_json, alignment=alignment, walk=walk)
            shown += results if html is not None and len(shown) < CHUNK else []
            total += len(batch)
            _progress(total, input_ is not None)
    if html is not None:
        _page(html, shown)


class _Writer:
    """Standard output, or a file that appears only when it is complete."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.draft = None if path is None else path.with_name(f".{path.name}.part")

    def __enter__(self) -> TextIO:
        if self.draft is None:
            return sys.stdout
        from regard.bundle.folder import explain

        try:
            self.file = self.draft.open("w", encoding="utf-8")
        except OSError as error:
            raise explain(error, self.path or self.draft) from error
        return self.file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self.draft is None or self.path is None:
            return
        from regard.bundle.folder import explain

        try:
            self.file.close()
            if kind is None:
                self.draft.replace(self.path)
        except OSError as problem:
            raise explain(problem, self.path) from problem
        finally:
            self.draft.unlink(missing_ok=True)


def _lines(texts: list[str], path: Path | None) -> Iterator[str]:
    """Lines to translate; only a newline ends a line, and bytes that are not UTF-8 are refused with their place."""
    if texts:
        yield from texts
        return
    from regard.data.lines import decode_lines, read_lines

    yield from read_lines(path) if path is not None else decode_lines(sys.stdin.buffer, "standard input")


def _chunks(lines: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(lines, CHUNK)):
        yield batch


def _warn(results: "list[Translation]", before: int) -> None:
    from regard.cli.screen import warn

    for number, translation in enumerate(results, start=before + 1):
        for warning in translation.warnings:
            warn(f"line {number}: {warning}")


def _print(translation: "Translation", file: TextIO, *, as_json: bool, alignment: bool, walk: bool) -> None:
    if as_json:
        file.write(json.dumps(translation.json(), ensure_ascii=False) + "\n")
        return
    for one in (translation, *translation.alternatives):
        line = one.text
        if translation.alternatives:
            line = f"{one.normalised_score:.4f}\t{line}"
        if alignment:
            line += "\t" + " ".join(f"{source}-{target}" for source, target in sorted(one.alignment))
        file.write(line + "\n")
    if walk:
        from regard.plot import walk as spotlight

        if file is sys.stdout and sys.stdout.isatty():
            from regard.cli.screen import console, show_walk

            show_walk(console(), translation)
        else:
            file.write(spotlight(translation.attention_map()) + "\n\n")


def _converse(translator: "Translator", search: dict[str, int], walk: bool) -> None:
    from regard.cli.screen import console, show_map, show_walk

    screen = console()
    typer.echo("Type a sentence; an empty line ends.", err=True)
    while True:
        try:
            line = input("> ").strip()
        except EOFError:
            return
        if not line:
            return
        translation = translator.translate(line, **search)
        _warn([translation], 0)
        screen.print(translation.text, markup=False, style="bold")
        for other in translation.alternatives:
            screen.print(f"  {other.normalised_score:.4f}  {other.text}", markup=False)
        if translation.attention is not None:
            (show_walk if walk else show_map)(screen, translation)


def _progress(total: int, wanted: bool) -> None:
    if wanted and sys.stderr.isatty():
        sys.stderr.write(f"\r{total:,} lines")
        sys.stderr.flush()


def _page(path: Path, translations: "list[Translation]") -> None:
    from regard.bundle.folder import write_whole
    from regard.plot import alignment_html

    maps = [one.attention_map() for one in translations if one.text]
    if maps:
        write_whole(path, alignment_html(maps))
        typer.echo(f"written: {path}", err=True)

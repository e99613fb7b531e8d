"""Translate text: arguments, a file, standard input, or a prompt on a terminal; one output line for each input line.

Examples:
    regard translate runs/demo "The black cat sat on the mat." --walk
    regard translate runs/demo --input news.en --output news.fr --beam 5
    regard translate runs/demo < news.en > news.fr
    regard translate runs/demo "I love you." --target "Je t'aime." --alignment
    regard translate runs/demo "I love you." --temperature 0.8 --nbest 3

On a terminal, the heat-map of each text follows its translation; files and pipes get only the translations. A program
that keeps the pipe open gets each translation before it writes the next line. With --engine, the files of a folder or
a pattern are translated in parts, into a folder; finished parts are not translated again.
"""

import json
import os
import shlex
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from regard.bounds import MOST
from regard.cli.escape import warn
from regard.cli.input_lines import chunks, count_lines, is_stream, read_batches
from regard.cli.options import (
    Beam,
    Bundle,
    Device,
    Ensemble,
    LengthPenalty,
    LongestSource,
    Parents,
    Precision,
    Trust,
    argument,
    flag,
    input_file,
    number,
    output_file,
    value,
)
from regard.data.lines import find_file, open_bytes, read_lines
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.cli.output import Output
    from regard.runtime.translation import Translation
    from regard.runtime.translator import Translator

PAGE = 200
"""Largest number of sentences on a page."""


def translate(
    bundle: Bundle,
    texts: Annotated[
        list[str] | None, argument("TEXT", "Texts, after -- if one begins with - (default: standard input).")
    ] = None,
    input_: Annotated[Path | None, input_file("Read lines from this file.", "--input")] = None,
    output: Annotated[Path | None, output_file("Write to this file.")] = None,
    in_place: Annotated[bool, flag("--in-place", "Replace the file of --input.")] = False,
    beam: Beam = None,
    nbest: Annotated[
        int | None,
        number("Up to N different translations of each text: number, normalised score, text.", MOST["beam"]),
    ] = None,
    length_penalty: LengthPenalty = None,
    temperature: Annotated[
        float | None, value("X", "Sampling temperature (1: the model's own; lower: sharper); excludes --beam above 1.")
    ] = None,
    target: Annotated[
        list[str] | None,
        value("TEXT", "Score and align this translation (one for each TEXT); a file with --input."),
    ] = None,
    as_json: Annotated[bool, flag("--json", "One JSON object a line, attention included.")] = False,
    alignment: Annotated[bool, flag("--alignment", "Add a tab and word links, source-target counted from 0.")] = False,
    html: Annotated[Path | None, output_file("Write a page with heat-maps.")] = None,
    parents: Parents = False,
    walk: Annotated[bool, flag("--walk", "Show step by step where the model looked.")] = False,
    ensemble: Ensemble = None,
    longest_source: LongestSource = None,
    device: Device = "cpu",
    precision: Precision = "float32",
    trust: Trust = None,
    engine: Annotated[str | None, value("NAME", "For folders: local, or ray (several processes or machines).")] = None,
    workers: Annotated[int | None, number("Processes of the engine ray (default: 2).", MOST["threads"], 1)] = None,
    gpus_per_worker: Annotated[float | None, value("X", "GPUs of each worker, also a fraction (default: 0).")] = None,
    column: Annotated[
        str | None, value("NAME", "Column of the text: a name; in TSV a number from 1, or a name in its first line.")
    ] = None,
) -> None:
    from regard.cli.translate_folder import translate_folder
    from regard.runtime.decoding_precision import check_precision
    from regard.runtime.translator import load

    given = {"beam": beam, "nbest": nbest, "length_penalty": length_penalty, "temperature": temperature}
    search: dict[str, Any] = {name: one for name, one in given.items() if one is not None}
    chosen = check_precision(precision)
    if engine is not None:
        about = {"device": device, "precision": chosen, "trust": tuple(trust or ()), "column": column, "search": search}
        others = {"TEXT": texts, "--nbest": nbest, "--target": target, "--html": html, "--ensemble": ensemble,
                  "--walk": walk, "--json": as_json, "--alignment": alignment, "--in-place": in_place,
                  "--longest-source": longest_source}  # fmt: skip
        translate_folder(engine, workers, gpus_per_worker, (bundle, input_, output), about, others)
        return
    bulk = {"--workers": workers, "--gpus-per-worker": gpus_per_worker, "--column": column}
    if alone := [name for name, one in bulk.items() if one is not None]:
        raise InputError(f"{', '.join(alone)} needs --engine: add --engine local or --engine ray, or leave it out")
    if texts and input_ is not None:
        raise InputError("texts and --input were both given: leave one of them out")
    if as_json and (walk or alignment):
        raise InputError("--json holds alignment and attention already: leave --walk and --alignment out")
    input_ = None if input_ == Path("-") else input_
    models = [bundle, *(ensemble or [])]
    read = [*models, *([Path(one) for one in target or ()] if input_ is not None else [])]
    output = _check_files(input_, output, html, read, in_place, parents, bool(texts))
    total = None if input_ is None else count_lines(input_)
    targets = _targets(target, texts, input_, total)
    translator = load(models, device, longest_source=longest_source, trust=trust or (), precision=chosen)
    on_terminal = input_ is None and output is None and sys.stdout.isatty() and (bool(texts) or sys.stdin.isatty())
    draws = on_terminal and not (as_json or alignment or walk)
    form = Form(as_json, alignment, walk, (nbest or 1) > 1, draws)
    if on_terminal and not texts:
        shown = _converse(translator, search, form)
    else:
        shown = _translate_lines(translator, (texts, input_, output), targets, search, form, total)
    if html is not None:
        _write_page(html, shown)


def _translate_lines(
    translator: "Translator",
    streams: tuple[list[str] | None, Path | None, Path | None],
    targets: list[str] | None,
    search: dict[str, Any],
    form: "Form",
    total: int | None,
) -> "list[Translation]":
    """Translate texts, or the lines of a file or of standard input, into a file; returns the first, for a page."""
    from regard.cli.output import open_output
    from regard.cli.screen import Warnings, progress

    texts, input_, output = streams
    _warn_about_files(texts or [])
    warnings, shown, done = Warnings(), list["Translation"](), 0
    with open_output(output) as file, progress("translating", total, output is not None) as advance:
        for batch in chunks(texts) if texts else read_batches(input_):
            forced = None if targets is None else targets[done : done + len(batch)]
            for number, one in enumerate(translator.translate(batch, target=forced, **search), start=done + 1):
                warnings.show(one, number if len(texts or ()) != 1 else None)
                form.write(one, number, file)
                shown += [one] if len(shown) <= PAGE else []
            done += len(batch)
            advance(done)
            file.flush()
    warnings.close()
    return shown


def _check_files(
    read: Path | None, output: Path | None, html: Path | None, bundles: list[Path], in_place: bool, parents: bool,
    texts: bool,
) -> Path | None:  # fmt: skip
    """The output file; raises if an output is also an input, without --in-place."""
    from regard.cli.output import STANDARD_INPUT, check_outputs

    if in_place:
        output = _in_place(read, output)
        check_outputs({"--html": html}, [read], parents=parents)
        inputs: list[Path] = []
    else:
        inputs = [read] if read is not None else [] if texts else [STANDARD_INPUT]
    remedies = {} if read is None or in_place else {"--output": ", or add --in-place"}
    written = {"--output": output, "--html": html}
    check_outputs(written, bundles, parents=parents)
    check_outputs(written, inputs, parents=parents, remedies=remedies)
    return output


def _in_place(read: Path | None, output: Path | None) -> Path:
    """The file that --in-place replaces."""
    if read is None:
        raise InputError("--in-place replaces the file of --input: name one")
    found = find_file(read)
    if output is not None and not (output.exists() and output.samefile(found)):
        raise InputError(f"--in-place replaces {read}: leave --output out")
    with open_bytes(found) as unpacked, found.open("rb") as raw:
        if unpacked.read(6) != raw.read(6):
            raise InputError(f"--in-place: {found} is compressed; unpack it, or name a file with --output")
    return found


@dataclass(frozen=True)
class Form:
    """How a translation is written."""

    json: bool = False
    alignment: bool = False
    walk: bool = False
    numbered: bool = False
    map: bool = False

    def write(self, translation: "Translation", number: int, file: "Output") -> None:
        if self.json:
            file.write(json.dumps(translation.json(), ensure_ascii=False) + "\n")
            return
        for one in (translation, *translation.alternatives):
            line = f"{number}\t{one.normalised_score:.4f}\t{one.text}" if self.numbered else one.text
            if self.alignment:
                line += "\t" + " ".join(f"{source}-{target}" for source, target in sorted(one.alignment))
            file.write(line + "\n")
        if self.walk and translation.source_words:
            self._write_walk(translation, file)
        if self.map and translation.source_words:
            from regard.cli.screen import console, show_map

            show_map(console(), translation, words=True)

    def _write_walk(self, translation: "Translation", file: "Output") -> None:
        from regard.plot import walk

        if file is sys.stdout:
            from regard.cli.screen import console, show_walk

            show_walk(console(), translation)
        else:
            file.write(walk(translation.attention_map(), probabilities=translation.probabilities).plain + "\n\n")


def _converse(translator: "Translator", search: dict[str, Any], form: Form) -> "list[Translation]":
    """A prompt on a terminal: everything that was translated until an empty line."""
    from regard.cli.screen import Warnings

    with suppress(ImportError):
        import readline  # noqa: F401  (gives `input` a history and the arrow keys)
    sys.stderr.write("Type a sentence; an empty line ends.\n")
    done: list[Translation] = []
    while line := _prompt():
        try:
            translation = translator.translate(line, **search)
        except InputError as error:
            warn(str(error))
            continue
        Warnings().show(translation)
        form.write(translation, len(done) + 1, sys.stdout)
        sys.stdout.flush()
        done.append(translation)
    return done


def _prompt() -> str:
    while True:
        try:
            return input("> ").strip()
        except EOFError:
            sys.stdout.write("\n")
            return ""
        except UnicodeDecodeError:
            warn("the input is not UTF-8: set the terminal's encoding, and try again")


def _warn_about_files(texts: list[str]) -> None:
    """Warn about texts that are names of files: they are translated as text."""
    for one in filter(os.path.isfile, texts):
        warn(f"'{one}' was translated as text, but is a file: --input {shlex.quote(one)} translates its lines")


def _targets(
    target: list[str] | None, texts: list[str] | None, read: Path | None, total: int | None
) -> list[str] | None:
    """The translations of --target, one for each text or line; None if it was left out."""
    if not target:
        return None
    if read is not None and len(target) == 1 and not is_stream(read):
        targets = list(read_lines(Path(target[0])))
        if total is not None and len(targets) != total:
            raise InputError(f"{total:,} lines in {read}, but {len(targets):,} in --target: expected one for each")
        return targets
    if not texts:
        raise InputError("--target needs TEXT arguments, or one file with --input FILE: a pipe has no targets")
    if len(target) != len(texts):
        raise InputError(f"{len(texts)} texts but {len(target)} of --target: give one for each")
    return target


def _write_page(path: Path, translations: "list[Translation]") -> None:
    from regard.bundle.bundle_folder import write_whole
    from regard.plot import alignment_html

    maps = [one.attention_map() for one in translations if one.source_words]
    if not maps:
        warn(f"{path} was not written: there is no translation to show")
        return
    write_whole(path, alignment_html(maps[:PAGE]))
    more = f", the first {PAGE} sentences" if len(maps) > PAGE else ""
    warn(f"written: {path}{more}")

"""Corpora for the recipes: list them, fetch one, show one.

Actions:
  list               every corpus: pairs, languages, licence, whether there is a local copy
  get NAME...        copy it from a folder (--from) or download it; verified and resumable
  show NAME          licence, splits, files, the recipes that use it, a few pairs

Corpora are searched in the folder that REGARD_DATA names, then in ~/.local/share/regard.

Examples:
    regard data list
    regard data get multi30k --from ../corpora
    REGARD_DATA=../corpora regard train multi30k-en-de
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.bounds import cut
from regard.cli.escape import print_json, warn
from regard.cli.options import argument, flag, value
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.data.catalogue import CatalogueEntry

ACTIONS = ("list", "get", "show")
SHOWN = 3
"""Pairs that `show` prints."""


def data(
    action: Annotated[str, argument("ACTION", f"{', '.join(ACTIONS)}.")] = "list",
    names: Annotated[list[str] | None, argument("NAME", "A corpus, as `list` names it.")] = None,
    origin: Annotated[Path | None, value("DIR", "A folder with a local copy, to get it from.", "--from")] = None,
    as_json: Annotated[bool, flag("--json", "Print list or show as JSON.")] = False,
) -> None:
    from regard.data.catalogue import catalogue, find_entry

    if action not in ACTIONS:
        raise InputError(f"there is no action {action!r}; there are {', '.join(ACTIONS)}")
    if origin is not None and action != "get":
        raise InputError(f"--from is an option of get, not of {action}")
    if action == "list":
        if names:
            raise InputError(f"list takes no name; `regard data show {names[0]}` describes one corpus")
        _list(list(catalogue().values()), as_json)
        return
    if not names or (action == "show" and len(names) > 1):
        raise InputError(
            f"{action} needs the name of {'one' if action == 'show' else 'a'} corpus; see `regard data list`"
        )
    entries = [find_entry(name) for name in names]
    if action == "show":
        _show(entries[0], as_json)
    else:
        for entry in entries:
            _get(entry, origin)


def _list(entries: "list[CatalogueEntry]", as_json: bool) -> None:
    from regard.data.catalogue import corpus_folder

    places = {entry.name: corpus_folder(entry) for entry in entries}
    if as_json:
        print_json([_plain(entry, places[entry.name]) for entry in entries])
        return
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        place = places[entry.name]
        typer.echo(f"{'✓' if place else ' '} {entry.name:<{width}}  {entry.title}")
        typer.echo(f"  {'':<{width}}  {_sizes(entry)}; licence: {entry.licence}")
    here = "✓ local copy; " if any(places.values()) else ""
    typer.echo(f"\n{here}`regard data get NAME` fetches one, `regard data show NAME` describes it.")


def _get(entry: "CatalogueEntry", origin: Path | None) -> None:
    from regard.data.fetch import get

    with _bytes_bar() as watch:
        got = get(entry, origin, watch=watch)
    counts = Counter("here already" if how == "kept" else how for how in got.files.values())
    done = ", ".join(f"{count} {how}" for how, count in counts.items())
    typer.echo(f"{entry.name}: {len(got.files)} files checked ({done})", err=True)
    typer.echo(f"licence: {entry.licence}. Acknowledge: {entry.acknowledge}", err=True)
    typer.echo(str(got.folder))


def _show(entry: "CatalogueEntry", as_json: bool) -> None:
    from regard.data.catalogue import corpus_folder
    from regard.data.fetch import damaged

    place = corpus_folder(entry)
    if as_json:
        print_json(_plain(entry, place))
        return
    lines = [
        ("corpus", f"{entry.name}: {entry.title}"),
        ("from", entry.origin),
        ("licence", entry.licence),
        ("acknowledge", entry.acknowledge),
        ("good for", entry.use),
        ("sides", " ".join(entry.sides)),
        ("parts", " ".join(entry.parts)),
        ("splits", ", ".join(f"{split} {count:,}" for split, count in entry.splits().items())),
        ("recipes", " ".join(_recipes(entry)) or "none yet"),
    ]
    for name, text in lines:
        if text:
            typer.echo(f"{name:<12}{text}")
    if place is None:
        typer.echo(f"{'here':<12}no: `regard data get {entry.name}{'' if entry.public else ' --from DIR'}`")
        return
    wrong = damaged(entry, place)
    typer.echo(
        f"{'here':<12}{place}, " + (f"missing or damaged: {', '.join(wrong)}" if wrong else "every file checked")
    )
    if not wrong:
        for line in islice(_examples(entry), SHOWN):
            typer.echo(f"{'':<12}{line}")


def _plain(entry: "CatalogueEntry", place: Path | None) -> dict[str, object]:
    return {
        **entry.model_dump(mode="json"),
        "splits": entry.splits(),
        "recipes": _recipes(entry),
        "folder": None if place is None else str(place),
    }


def _sizes(entry: "CatalogueEntry") -> str:
    """The number of pairs in the splits that a recipe uses by default."""
    splits = entry.splits()
    part = entry.parts[0] if entry.parts else ""
    names = [name.replace("{part}", part) for name in (entry.train, entry.dev, entry.test) if name is not None]
    counts = " / ".join(f"{splits[name]:,}" for name in names)
    of = f" for each of {len(entry.parts)} languages" if entry.parts else ""
    return f"{' '.join(entry.sides)}; {counts} pairs{of}"


def _recipes(entry: "CatalogueEntry") -> list[str]:
    from regard.data.tables import CatalogueData
    from regard.training.recipe import load_recipe, recipe_names

    tables = {name: load_recipe(name).data for name in recipe_names()}
    stored = {name: table for name, table in tables.items() if isinstance(table, CatalogueData)}
    return [name for name, table in stored.items() if entry.name in (table.name, *table.more)]


def _examples(entry: "CatalogueEntry") -> Iterator[str]:
    """The first training pairs; if the corpus has several parts, those of the first part."""
    from regard.data.splits import open_split
    from regard.data.tables import CatalogueData

    part = entry.parts[0] if entry.parts else None
    source, target = entry.sides[:2]
    table = CatalogueData(kind="catalogue", name=entry.name, source=source, target=target, part=part)
    for pair in open_split(table, "train").pairs():
        yield f"{cut(pair.source, 60)}  →  {cut(pair.target, 60)}"


@contextmanager
def _bytes_bar() -> "Iterator[Callable[[str, int, int | None], None]]":
    """A bar on stderr for the file that is being fetched."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from regard.cli.escape import escaped, terminal_console
    from regard.data.fetch import WAITING

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=terminal_console(sys.stderr), transient=True, disable=hidden) as bar, escaped():
        task = bar.add_task("", total=None)

        def watch(name: str, done: int, total: int | None) -> None:
            bar.update(task, description=name, completed=done, total=total)
            if hidden and name.startswith(WAITING):
                warn(name)

        yield watch

"""Draw attention heat-maps of sentences (PNG, SVG, PDF or HTML by the file's ending), or a run's loss curve.

Examples:
    regard plot runs/demo "The black cat sat on the mat." --out cat.png
    regard plot runs/demo                                              its loss curve
"""

from pathlib import Path
from typing import Annotated

import typer

from regard.bounds import MOST
from regard.cli.escape import warn
from regard.cli.options import Bundle, Parents, Trust, argument, flag, number, output_file, value
from regard.text.input_error import InputError


def plot(
    bundle: Bundle,
    texts: Annotated[list[str] | None, argument("TEXT", "Sentences to draw (default: the run's loss curve).")] = None,
    out: Annotated[Path | None, output_file("The picture (default: attention.png or curve.png).")] = None,
    parents: Parents = False,
    words: Annotated[bool, flag("--words", "Whole words instead of pieces and EOS.")] = False,
    target: Annotated[str | None, value("TEXT", "Force this translation of the one sentence given.")] = None,
    layer: Annotated[int | None, number("A layer, from 0 (default: the mean of all).", MOST["layers"])] = None,
    head: Annotated[int | None, number("A head, from 0 (default: the mean of all).", MOST["heads"])] = None,
    trust: Trust = None,
) -> None:
    from regard.cli.output import check_outputs, check_picture, write_picture

    path = out or Path("attention.png" if texts else "curve.png")
    check_picture(path, *([".html"] if texts else []))
    check_outputs({"--out": path}, [bundle, bundle.parent / "journal.jsonl"], parents=parents)
    if not texts:
        from regard.training.loss_curve import curve

        write_picture(curve(_run_folder(bundle)), path)
        typer.echo(str(path))
        return
    from regard.bundle.bundle_folder import write_whole
    from regard.cli.screen import Warnings
    from regard.plot import alignment_html, heatmaps, picture
    from regard.runtime.translator import load

    if target is not None and len(texts) > 1:
        raise InputError(f"--target forces one translation, but {len(texts)} sentences were given")
    translations = load(bundle, trust=trust or ()).translate(texts, target=None if target is None else [target])
    for line, one in enumerate(translations, start=1):
        Warnings().show(one, line if len(texts) > 1 else None)
    drawn = [one for one in translations if one.source_words]
    if not drawn:
        raise InputError("nothing to draw: the given texts have no words")
    ending = path.suffix.lower().removeprefix(".")
    try:
        maps = [one.attention_map(words=words, layer=layer, head=head) for one in drawn]
        content = alignment_html(maps) if ending == "html" else picture(heatmaps(maps), ending)
    except ValueError as error:  # no attention, or no such layer or head
        raise InputError(str(error)) from error
    write_whole(path, content)
    for one in drawn:
        warn(f"{one.source} → {one.text}")
    typer.echo(str(path))


def _run_folder(path: Path) -> Path:
    """The run folder of a bundle, which is its best/ or last/."""
    from regard.bundle.find import find_bundle

    if not path.exists():
        find_bundle(path)  # raises with the valid names
    if not (path / "journal.jsonl").exists() and (path.parent / "journal.jsonl").exists():
        return path.parent
    return path

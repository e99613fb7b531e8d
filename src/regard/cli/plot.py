"""Draw attention heat-maps of sentences (PNG, SVG or HTML by the file's ending), or a run's loss curve."""

from pathlib import Path
from typing import Annotated

import typer


def plot(
    bundle: Annotated[Path, typer.Argument(help="A bundle or run folder.")],
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="Sentences; a run's loss curve if left out.")] = None,
    out: Annotated[Path | None, typer.Option(help="Picture; attention.png or curve.png if left out.")] = None,
    words: Annotated[bool, typer.Option("--words", help="Whole words instead of pieces and EOS.")] = False,
    target: Annotated[str | None, typer.Option(help="Force this translation of the one sentence given.")] = None,
) -> None:
    from regard.bundle.folder import explain, write_whole
    from regard.plot import alignment_html, heatmaps, save
    from regard.runtime.translator import load
    from regard.text.errors import InputError
    from regard.train.picture import curve

    try:
        if not texts:
            path = out or Path("curve.png")
            save(curve(bundle), path)
        else:
            path = out or Path("attention.png")
            if target is not None and len(texts) > 1:
                raise InputError(f"--target forces one translation, but {len(texts)} sentences were given")
            forced = {} if target is None else {"target": [target]}
            maps = [one.attention_map(words=words) for one in load(bundle).translate(texts, **forced)]
            if path.suffix.lower() in (".html", ".htm"):
                write_whole(path, alignment_html(maps))
            else:
                save(heatmaps(maps), path)
    except OSError as error:
        raise explain(error, out or Path(".")) from error
    typer.echo(str(path))

"""The first pairs of a split of the data that a served model was trained with."""

import os
from itertools import islice

from regard.bundle.store import Bundle
from regard.data.lines import MissingFile
from regard.data.pair import Pair
from regard.data.splits import load_split, open_split
from regard.data.synthetic import Split
from regard.data.tables import PhrasebookData, SyntheticData
from regard.server.errors import unsupported
from regard.text.input_error import InputError
from regard.training.portable import located_recipe
from regard.training.recipe import parse_recipe


def first_pairs(bundle: Bundle, split: Split, most: int, *, files: bool) -> list[Pair]:
    """The first pairs; raises if the data is missing, and without `files` for data that is not generated.

    A bundle may come from another person: a server for other machines must not return files that its recipe names.
    """
    if not bundle.manifest.recipe:
        raise unsupported("this model has no recipe, so there is no data to show")
    raw = located_recipe(bundle.manifest.recipe, bundle.path.resolve().parent)
    try:
        data = parse_recipe(raw, "the recipe of the model").data
        if isinstance(data, PhrasebookData | SyntheticData):
            count = min(getattr(data, split), most)
            return load_split(data.model_copy(update={split: count}), split).pairs if count else []
        if not files:
            raise unsupported("regard serve reads no data files", hint="regard studio does")
        return list(islice(open_split(data, split).pairs(), most))
    except InputError as error:
        reason = f"no file {error.path}" if isinstance(error, MissingFile) else str(error)
        base = raw.get("data", {}).get("base")
        short = reason.replace(f"{base}{os.sep}", "") if base else reason  # a client cannot use the server's paths
        raise unsupported(
            f"the {split} data of this model is not on this machine: {short}",
            hint="the demo models generate their data; a model that is trained on this machine finds its own",
        ) from error

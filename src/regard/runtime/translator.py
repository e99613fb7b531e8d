"""`regard.load(path).translate(text)`: the Python API over a bundle."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import torch
from pydantic import ValidationError

from regard.bundle.store import Bundle, load_bundle
from regard.runtime.padded import Padded, pad
from regard.runtime.translation import Translation, build_translation
from regard.search import Ensemble, SearchConfig, Stepper, decode, forced_search
from regard.text.encoding import Encoding
from regard.text.errors import InputError
from regard.text.special import EOS

ROWS = 64
"""Sentences decoded together; they are sorted by length first and put back in order afterwards."""


def load(path: str | Path | Sequence[str | Path], device: str = "cpu") -> "Translator":
    """A translator from a bundle or run folder; several paths make an ensemble over one vocabulary."""
    paths = [path] if isinstance(path, str | Path) else list(path)
    return Translator([load_bundle(one, device) for one in paths])


class Translator:
    """Translates text with one model, or with several that vote."""

    def __init__(self, bundles: Bundle | Sequence[Bundle]) -> None:
        self.bundles = [bundles] if isinstance(bundles, Bundle) else list(bundles)
        if not self.bundles:
            raise InputError("an ensemble needs at least one bundle")
        first = self.bundles[0]
        for other in self.bundles[1:]:
            same = (first.source.fingerprint, first.target.fingerprint, first.manifest.source_eos)
            if (other.source.fingerprint, other.target.fingerprint, other.manifest.source_eos) != same:
                raise InputError(
                    f"{other.path} and {first.path} have different vocabularies: an ensemble needs models that were "
                    "trained with the same tokenizers (train.start_from shares them)"
                )
        models: list[Stepper] = [bundle.model for bundle in self.bundles]
        self.stepper: Stepper = models[0] if len(models) == 1 else Ensemble(models)

    @property
    def bundle(self) -> Bundle:
        return self.bundles[0]

    @property
    def device(self) -> torch.device:
        return next(self.bundle.model.parameters()).device

    @overload
    def translate(self, text: str, **search: Any) -> Translation: ...
    @overload
    def translate(self, text: Sequence[str], **search: Any) -> list[Translation]: ...
    def translate(self, text: str | Sequence[str], **search: Any) -> Translation | list[Translation]:
        """Translate one text or a list of them.

        `search` takes the keys of the recipe's [search] table (beam, nbest, longest …), and `prefix` or `target`:
        the words a translation must begin with, or must be (forced decoding, to score and align a given target).
        Both are one string for each text. `.alternatives` holds the rest of an n-best list.
        """
        texts = [text] if isinstance(text, str) else list(text)
        given = {name: _one_each(name, search.pop(name, None), texts) for name in ("prefix", "target")}
        if given["prefix"] and given["target"]:
            raise InputError("give a prefix or a target, not both: a forced target has no free words")
        config = self._search(search)
        encoded = [self._encode(one) for one in texts]
        order = sorted((i for i, one in enumerate(encoded) if one.ids), key=lambda i: -len(encoded[i].ids))
        done: dict[int, Translation] = {}
        for first in range(0, len(order), ROWS):
            rows = order[first : first + ROWS]
            forced = {name: values and [values[i] for i in rows] for name, values in given.items()}
            found = self._decode([encoded[i] for i in rows], config, forced["prefix"], forced["target"])
            done.update(zip(rows, found, strict=True))
        results = [self._finish(done.get(i), texts[i], encoded[i]) for i in range(len(texts))]
        return results[0] if isinstance(text, str) else results

    def _search(self, changes: dict[str, Any]) -> SearchConfig:
        known = {**self.bundle.manifest.search, **changes}
        if changes.get("nbest", 1) > known.get("beam", 1) and "beam" not in changes and not known.get("temperature"):
            known["beam"] = changes["nbest"]
        try:
            return SearchConfig.model_validate(known)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            if first["type"] == "extra_forbidden":
                valid = ", ".join([*SearchConfig.model_fields, "prefix", "target"])
                raise InputError(f"translate has no option '{name}': valid ones are {valid}") from error
            message = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{name}: {message}" if name else message) from error

    def _encode(self, text: str) -> Encoding:
        """Pieces of the source, cut to the length the model was trained for; blank text has none."""
        manifest = self.bundle.manifest
        encoding = self.bundle.source.encode(text, eos=manifest.source_eos)
        if not encoding.word_texts:
            return replace(encoding, ids=())
        limit = manifest.longest_source + (1 if manifest.source_eos else 0)
        if len(encoding.ids) <= limit:
            return encoding
        keep = [*range(manifest.longest_source), *([len(encoding.ids) - 1] if manifest.source_eos else [])]

        def cut(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(values[i] for i in keep)

        words = cut(encoding.words)
        seen = max((word for word in words if word is not None), default=-1) + 1
        return replace(
            encoding, ids=cut(encoding.ids), pieces=cut(encoding.pieces), spans=cut(encoding.spans), words=words,
            word_texts=encoding.word_texts[:seen],
        )  # fmt: skip

    @torch.inference_mode()
    def _decode(
        self, sources: list[Encoding], config: SearchConfig, prefixes: list[str] | None, targets: list[str] | None
    ) -> list[Translation]:
        batch: Padded = pad([one.ids for one in sources], self.device)
        target = self.bundle.target
        if targets is not None:
            wanted = [[*target.encode_ids(text), EOS] for text in targets]
            found = [[one] for one in forced_search(self.stepper, batch, wanted, device=self.device)]
        else:
            starts = None if prefixes is None else [target.encode_ids(text) for text in prefixes]
            found = decode(self.stepper, batch, batch.source_lengths, config, prefixes=starts)
        return [
            build_translation(source, hypotheses, target, forced=None if targets is None else targets[row])
            for row, (source, hypotheses) in enumerate(zip(sources, found, strict=True))
        ]

    def _finish(self, translation: Translation | None, text: str, source: Encoding) -> Translation:
        """Say what was odd about the input; a blank text becomes a blank translation."""
        if translation is None:
            return Translation.blank(text, source)
        warnings = []
        whole = self.bundle.source.encode(text)
        if len(whole.ids) > self.bundle.manifest.longest_source:
            warnings.append(
                f"cut to {self.bundle.manifest.longest_source} of {len(whole.ids)} pieces, the most this model reads"
            )
        unknown = [piece for piece, number in zip(source.pieces, source.ids, strict=True) if number == 1]
        if unknown:
            warnings.append(f"unknown to this model: {' '.join(dict.fromkeys(unknown))}")
        return replace(translation, warnings=(*translation.warnings, *warnings))


def _one_each(name: str, values: Any, texts: list[str]) -> list[str] | None:
    if values is None:
        return None
    values = [values] if isinstance(values, str) else list(values)
    if len(values) != len(texts):
        raise InputError(f"{len(texts)} texts but {len(values)} of '{name}': give one for each")
    return values

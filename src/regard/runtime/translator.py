"""`regard.load(path).translate(text)`: the Python API over a bundle."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, overload

import torch
from pydantic import ValidationError

from regard.bounds import cut
from regard.bundle.store import Bundle
from regard.models.seq2seq import Seq2Seq
from regard.registry import Precision, prepare_for_decoding
from regard.runtime.build_translation import blank_translation, build_translation
from regard.runtime.decoding_precision import check_models, check_precision
from regard.runtime.guided import guided_head, guided_shift
from regard.runtime.inside import Inside, compute_inside
from regard.runtime.onnx_folder import load_any
from regard.runtime.same_vocabularies import check_same_vocabularies
from regard.runtime.search_size import SearchSize
from regard.runtime.source_text import Padded, check_target, list_texts, one_for_each, pad
from regard.runtime.spoken_words import read_text, reads_one_word, word_by_word
from regard.runtime.translation import Translation, different_texts
from regard.search import Ensemble, Hypothesis, PrefixTooLong, SearchConfig, Stepper, decode, forced_search
from regard.suggest import suggest
from regard.text.complaint import complain
from regard.text.encoding import Encoding
from regard.text.input_error import InputError

WIDER = 4
"""Batches on a GPU are this many times larger, and take little more time (docs/results/decoding.md)."""
ALSO = ("prefix", "target", "copy")
"""Options of `translate` besides the keys of [search]."""


def load(
    path: str | Path | Sequence[str | Path],
    device: str | torch.device = "cpu",
    *,
    longest_source: int | None = None,
    trust: Collection[str] = (),
    precision: Precision = "float32",
) -> "Translator":
    """A translator from a bundle, run folder or ONNX folder; several paths make an ensemble over one vocabulary.

    Example:
        regard.load("runs/demo").translate("The black cat sat on the mat.").text

    A text is read up to the length of the longest training source, or up to `longest_source`; a longer one is cut, with
    a warning in the translation. A class outside regard that a bundle names, as in `score = "mymod:Mine"`, is imported
    only if `trust` names it: regard.load("runs/mine", trust=["mymod:Mine"]). precision="int8" multiplies large matrices
    in 8-bit integers, on a CPU: about twice as fast, and a few translations differ.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    try:
        where = torch.device(device)
        torch.empty(1, device=where)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        reason = "there is no such kind" if reason.startswith("Expected one of") else reason
        raise InputError(
            f"device '{device}' cannot be used here ({reason}): use cpu, or on a machine with a GPU cuda, cuda:1 or mps"
        ) from None
    check_precision(precision, where)
    bundles = [load_any(one, where, trust=trust) for one in paths]
    check_models(precision, [one.model for one in bundles])
    if longest_source is not None:
        bundles = [one.with_longest_source(longest_source) for one in bundles]
    return Translator(bundles, precision)


class Translator:
    """Translates text with one model or an ensemble."""

    def __init__(self, bundles: Bundle[Any] | Sequence[Bundle[Any]], precision: Precision = "float32") -> None:
        self.bundles: list[Bundle[Any]] = [bundles] if isinstance(bundles, Bundle) else list(bundles)
        if not self.bundles:
            raise InputError("an ensemble needs at least one bundle, got none")
        self.precision: Precision = precision
        first = self.bundles[0]
        check_same_vocabularies(self.bundles)
        self._head = guided_head(first) if len(self.bundles) == 1 else None
        self._shift = guided_shift(first) if len(self.bundles) == 1 else 0

    def __repr__(self) -> str:
        paths = ", ".join(repr(str(bundle.path)) for bundle in self.bundles)
        return f"Translator({paths}, device='{self.device}')"

    @cached_property
    def stepper(self) -> Stepper:
        """The model or ensemble that is searched; prepared for decoding on first use, with the weights at that time."""
        models: list[Stepper] = [prepare_for_decoding(bundle.model, self.precision) for bundle in self.bundles]
        return models[0] if len(models) == 1 else Ensemble(models)

    @property
    def bundle(self) -> Bundle[Any]:
        """The first bundle: all share its tokenizers, and its search settings are used."""
        return self.bundles[0]

    @property
    def device(self) -> torch.device:
        device: torch.device = self.bundle.model.device
        return device

    @property
    def longest_source(self) -> int:
        """Largest number of pieces of a text that are read."""
        return min(bundle.longest_source for bundle in self.bundles)

    @property
    def most_pieces(self) -> int | None:
        """Largest number of pieces, EOS counted, that every model can write; None: no limit."""
        return min((most for one in self.bundles if (most := one.model.config.most_pieces) is not None), default=None)

    @overload
    def translate(
        self, text: str, *, target: str | None = None, prefix: str | None = None, copy: bool = True, **search: Any
    ) -> Translation: ...
    @overload
    def translate(
        self,
        text: Iterable[str],
        *,
        target: Sequence[str] | None = None,
        prefix: Sequence[str] | None = None,
        copy: bool = True,
        **search: Any,
    ) -> list[Translation]: ...
    def translate(
        self,
        text: str | Iterable[str],
        *,
        target: str | Sequence[str] | None = None,
        prefix: str | Sequence[str] | None = None,
        copy: bool = True,
        **search: Any,
    ) -> Translation | list[Translation]:
        """Translate one text, or many in their order.

        Example:
            translator.translate("i love you").alignment
            translator.translate(["i love you", "she sleeps"], beam=5, nbest=3)[0].alternatives

        `target` is the translation to score and align (forced decoding), `prefix` its forced beginning: one string for
        each text. `copy` copies unknown source words into the translation.
        `search` takes the keys of the recipe's [search] table: beam, nbest, temperature, longest and so on;
        `.alternatives` holds the other hypotheses: the rest of an n-best list without repeated texts, or the other
        samples in the order drawn.
        """
        texts = list_texts(text)
        config = self.search_config(search)
        if target is not None and prefix is not None:
            raise InputError("give a prefix or a target, not both: a forced target has no free words")
        targets, prefixes = one_for_each("target", target, texts), one_for_each("prefix", prefix, texts)
        translate = partial(self._translate, copy=copy, config=config)
        if reads_one_word(self.bundle):
            done = word_by_word(translate, self.bundle.source, texts, targets, prefixes, config)
        else:
            done = translate(texts, targets, prefixes)
        return done[0] if isinstance(text, str) else done

    def _translate(
        self,
        texts: Sequence[str],
        targets: Sequence[str] | None,
        prefixes: Sequence[str] | None,
        copy: bool,
        config: SearchConfig,
    ) -> list[Translation]:
        bundle = self.bundle
        given = self._encode("target", targets) or self._encode("prefix", prefixes)
        forced = targets is not None
        generator = None
        if config.temperature is not None:
            generator = torch.Generator(device=self.device).manual_seed(config.seed)
        sources = [read_text(one, bundle, self.longest_source) for one in texts]
        done = {i: blank_translation(source) for i, source in enumerate(sources) if source.blank}
        about: dict[str, Any] = {"forced": forced, "copy": copy, "head": self._head, "shift": self._shift}
        longest = None if given is None or not forced else max((len(one.ids) for one in given), default=0)
        shape = bundle.manifest.model
        size = SearchSize(config, self.most_pieces, shape.attention_shape, longest, shape.encoder_heads)
        for rows in size.groups(sources, 1 if self.device.type == "cpu" else WIDER):
            batch = pad([sources[i].encoding.ids for i in rows], self.device)
            beginnings = None if given is None else [given[i].ids for i in rows]
            found = self._decode(batch, config, beginnings, forced, generator)
            for i, hypotheses in zip(rows, found, strict=True):
                about["given"] = None if given is None else given[i]
                built = [build_translation(sources[i], one, bundle.target, **about) for one in hypotheses]
                first, *others = built if config.sampler else different_texts(built, config.nbest, lambda one: one.text)
                done[i] = replace(first, alternatives=tuple(others))
        return [done[i] for i in range(len(texts))]

    def inside(self, text: str, *, target: str | None = None, **search: Any) -> Inside:
        """Encoder states and logits of one text, as arrays, while the model writes its translation, or `target`.

        Example:
            inside = translator.inside("i love you")
            inside.states, inside.logits        # [source piece, width], [target piece, vocabulary]
        """
        bundle = self.bundle
        if len(self.bundles) > 1 or not isinstance(bundle.model, Seq2Seq):
            kind = "an ensemble" if len(self.bundles) > 1 else f"{bundle.name} (ONNX)"
            raise InputError(f"states and logits are those of one torch model, not of {kind}: load one bundle")
        source = read_text(text, bundle, self.longest_source)
        if source.blank:
            raise InputError("a blank text has no states and no logits: give at least one word")
        batch = pad([source.encoding.ids], self.device)
        given = self._encode("target", one_for_each("target", target, [text]))
        if given is None:
            ids = self._decode(batch, self.search_config(search), None, False, None)[0][0].tokens
        else:
            ids = given[0].ids
        states, logits = compute_inside(bundle.model, batch, ids)
        names = bundle.target.pieces
        pieces = tuple(names[number] for number in ids)
        return Inside(states, logits, source.encoding.pieces, pieces, tuple(ids))

    @torch.inference_mode()
    def _decode(
        self,
        batch: Padded,
        config: SearchConfig,
        prefixes: Sequence[Sequence[int]] | None,
        forced: bool,
        generator: torch.Generator | None,
    ) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence; with `forced` its prefix is the whole target."""
        if forced and prefixes is not None:
            return [[one] for one in forced_search(self.stepper, batch, prefixes, device=self.device)]
        if config.nbest > 1 and not config.sampler:  # different pieces may give one text: more candidates fill the list
            config = config.model_copy(update={"nbest": config.beam})
        try:
            return decode(
                self.stepper, batch, batch.source_lengths, config, most=self.most_pieces, prefixes=prefixes,
                generator=generator,
            )  # fmt: skip
        except PrefixTooLong as error:
            raise InputError(
                f"a prefix of {error.tokens} pieces is more than the {error.limit} its translation may have: "
                "raise longest"
            ) from None

    def _encode(self, name: str, values: Sequence[str] | None) -> list[Encoding] | None:
        if values is None:
            return None
        encoded = [self.bundle.target.encode(value, eos=name == "target") for value in values]
        for one in encoded:
            for bundle in self.bundles:
                check_target(len(one.ids), bundle)
        return encoded

    def search_config(self, changes: dict[str, Any]) -> SearchConfig:
        """The bundle's settings with the changes of this call; settings that contradict a change are reset."""
        known = {**self.bundle.manifest.search, **changes}
        if "beam" in changes and "temperature" not in changes:
            known |= {"temperature": None, "top_k": None, "top_p": None}
        if known.get("temperature") is not None:
            known["beam"] = changes.get("beam", 1)
        elif "beam" not in changes and isinstance(known.get("nbest"), int) and isinstance(known.get("beam", 1), int):
            known["beam"] = max(known.get("beam", 1), known["nbest"])
        elif "nbest" not in changes:
            known["nbest"] = 1
        try:
            config = SearchConfig.model_validate(known)
        except ValidationError as error:
            raise InputError(_complaint(error)) from None
        if self.most_pieces is not None and isinstance(config.longest, int) and config.longest > self.most_pieces:
            raise InputError(
                f"longest = {config.longest}, but this model learned {self.most_pieces} positions and writes no more "
                f"pieces: set longest to {self.most_pieces} or less"
            )
        return config


def _complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] != "extra_forbidden":
        return complain(error, SearchConfig)
    name = ".".join(str(part) for part in first["loc"])
    return f"translate has no option '{cut(name)}': {suggest(name, [*SearchConfig.model_fields, *ALSO], 'options')}"

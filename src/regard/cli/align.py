"""Word links from attention: which source words each target word comes from. One line of i-j links for each pair.

The target is given (a file, or a split of the recipe); without one the model translates.
--reverse symmetrises with a model of the other direction. --gold scores the links.

Keys of --set:
    heads=1.0,1.3 or 1.*      attention heads as layer.head (default: the mean of all)
    shift=0                   row of attention: 0 the word's own, 1 the next, -1 the one before
    method=argmax             or threshold: every weight that reaches it makes a link
    threshold=0.2             the least attention weight that makes a link
    null=true                 no link for a word with more weight on pieces outside words, such as
                              EOS, than on any source word
    posterior=1               posterior alignment: p(link given the target word), with attention^X
                              as prior; tune: --tune chooses X
    evidence=state            or word: the posterior without the target words written before
    symmetrise=union          or intersection, grow-diag, grow-diag-final-and, product (default)
    dev_source, dev_target, dev_gold=FILE   other development data to tune on
    gold_base=1               index of the first word in gold files: Pharaoh 0, NAACL 1
    flip_gold=true            gold links are written target-source
    format=pharaoh            of the output; or naacl
    base=0                    index of the first word in the output: Pharaoh 0, NAACL 1
    entropy=true              report the entropy of attention, word by word
    longest_source=400        source pieces that are read (default: as in training)

Examples:
    regard align runs/demo --tune                             the test split of its recipe
    regard align runs/en-fr news.tsv --output news.align
    regard align runs/en-fr --source news.en                  translates: TRANSLATION TAB links
    regard align runs/en-fr --source test.en --target test.fr --words spaces --gold test.align
    regard align runs/en-fr --reverse runs/fr-en --tune --save-settings tuned.json
    regard align runs/en-fr news.tsv --reverse runs/fr-en --settings tuned.json
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from regard.cli.escape import print_json, warn
from regard.cli.options import Bundle, Device, Parents, Trust, argument, flag, input_file, output_file, value

if TYPE_CHECKING:
    from regard.lab.align_corpus import Entropy
    from regard.lab.align_job import AlignOutcome

DRAWN = 50
"""Pairs on a page."""
WORDS = 10
"""Words at each end of the entropy table."""


def align(
    bundle: Bundle,
    data: Annotated[
        Path | None, argument("DATA", "Lines of source TAB target (default: a split of the recipe).")
    ] = None,
    source: Annotated[Path | None, input_file("Parallel data: one sentence a line.")] = None,
    target: Annotated[Path | None, input_file("Its translation (default: the model translates).")] = None,
    split: Annotated[str | None, value("NAME", "train, dev or test (default: test).")] = None,
    reverse: Annotated[Path | None, value("BUNDLE", "A model of the other direction, to symmetrise with.")] = None,
    words: Annotated[
        Literal["model", "spaces"], value("HOW", "model: links count the model's words; spaces: split at white space.")
    ] = "model",
    gold: Annotated[Path | None, input_file("Gold links, Pharaoh or NAACL; for AER.")] = None,
    tune: Annotated[bool, flag("--tune", "Find heads, shift, threshold on development data, or by agreement.")] = False,
    set_: Annotated[list[str] | None, value("KEY=VALUE", "Set a key of the list above (repeatable).", "--set")] = None,
    settings: Annotated[Path | None, input_file("Extract links with the settings of this file.")] = None,
    save_settings: Annotated[Path | None, output_file("Save the settings that links were extracted with.")] = None,
    output: Annotated[Path | None, output_file("Write the links to this file.")] = None,
    as_json: Annotated[bool, flag("--json", "Print scores, rules and entropy instead of links.")] = False,
    html: Annotated[Path | None, output_file(f"Write a page with the first {DRAWN} heat-maps.")] = None,
    parents: Parents = False,
    device: Device = "cpu",
    trust: Trust = None,
) -> None:
    from regard.cli.output import check_outputs
    from regard.cli.screen import progress
    from regard.lab.align_job import prepare, run
    from regard.lab.align_settings import AlignOptions, AlignRequest
    from regard.lab.evaluate_model import recipe_files

    options = AlignOptions.parse(set_ or [])
    read = [bundle, reverse, data, source, target, gold, settings, *options.development]
    if (data is None and source is None) or (tune and options.dev_source is None):
        read += recipe_files(bundle)
    check_outputs({"--output": output, "--html": html, "--save-settings": save_settings}, read, parents=parents)
    request = AlignRequest(
        bundle, options, reverse, data, source, target, split, spaces=words == "spaces", tune=tune, gold=gold,
        settings=settings, device=device, trust=tuple(trust or ()),
    )  # fmt: skip
    job = prepare(request)
    with progress("aligning", len(job.text) * (1 if reverse is None else 2)) as advance:
        outcome = run(job, advance)
    for note in outcome.notes:
        warn(note)
    if output is not None or not as_json:
        _write(outcome, output)
    if as_json:
        print_json(outcome.json())
    else:
        _show(outcome)
    if save_settings is not None:
        outcome.settings.save(save_settings)
        warn(f"written: {save_settings}; use it with --settings {save_settings}")
    if html is not None:
        _draw(outcome, html)


def _write(outcome: "AlignOutcome", path: Path | None) -> None:
    """One line for each pair (Pharaoh) or link (NAACL); a translation comes before its links."""
    from regard.alignment import Links, format_naacl, format_pharaoh
    from regard.cli.output import open_output
    from regard.lab.align_corpus import count_pairs

    options, text = outcome.job.request.options, outcome.job.text
    naacl = options.format == "naacl"
    base = options.base if options.base is not None else int(naacl)
    with open_output(path) as file:
        for number, found in enumerate(outcome.aligned.links):
            links = Links.of(found)
            if naacl:
                file.write(format_naacl(number + 1, links, base=base))
            else:
                before = f"{text.targets[number]}\t" if outcome.job.translated else ""
                file.write(f"{before}{format_pharaoh(links, base=base)}\n")
    columns = "sentence source target S" if naacl else "source-target"
    place = "" if path is None else f"{path}: "
    warn(f"{place}{count_pairs(len(text))}, {outcome.aligned.chosen} links, {columns}, words counted from {base}")


def _show(outcome: "AlignOutcome") -> None:
    """Print tuned rules, scores and entropy to stderr; links go to stdout."""
    from regard.cli.screen import plain_table

    lines: list[str] = []
    posterior = "" if outcome.posterior is None else f"{outcome.posterior.describe()} "
    for name, tuned in (outcome.tuning.alone if outcome.tuning is not None else {}).items():
        shifts = ", ".join(f"{shift:+d}: {aer:.3f}" for shift, aer in tuned.by_shift().items())
        error = f"AER {tuned.aer:.3f} on the development set; by shift {shifts}"
        lines.append(f"{name}, tuned: {posterior}{tuned.rule.describe()}   ({error})")
    if outcome.scores is not None:
        rows: list[tuple[str, ...]] = [("links", "AER", "precision", "recall", "predicted", "sure")]
        for name, score in outcome.scores.items():
            mark = " *" if name == outcome.aligned.chosen and len(outcome.scores) > 1 else ""
            figures = (f"{value:.3f}" for value in (score.aer, score.precision, score.recall))
            rows.append((name + mark, *figures, f"{score.predicted:,}", f"{score.sure:,}"))
        lines += [*plain_table(rows), *(["* written"] if len(outcome.scores) > 1 else [])]
    if outcome.aligned.entropy is not None:
        lines += _entropy_lines(outcome.aligned.entropy, "attention" if not posterior else "the posterior")
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def _entropy_lines(entropy: "Entropy", what: str) -> list[str]:
    rows = entropy.ranked()
    lines = [f"entropy of {what}: {entropy.mean:.3f} nats for each target word (0: all weight on one source word)"]
    for title, some in (("lowest", rows[:WORDS]), ("highest", rows[: -WORDS - 1 : -1])):
        listed = ", ".join(f"{word} {value:.2f} ({count}×)" for word, count, value in some)
        lines.append(f"  {title}: {listed or 'no word occurs five times'}")
    return lines


def _draw(outcome: "AlignOutcome", path: Path) -> None:
    from regard.bundle.bundle_folder import write_whole
    from regard.lab.align_corpus import count_pairs
    from regard.lab.align_job import attention_maps
    from regard.plot import alignment_html

    maps = attention_maps(outcome, DRAWN)
    if not maps:
        warn(f"{path} was not written: no pair has words on both sides")
        return
    write_whole(path, alignment_html(maps, title=f"Attention of {outcome.job.request.bundle}"))
    warn(f"written: {path}, {count_pairs(len(maps))}")

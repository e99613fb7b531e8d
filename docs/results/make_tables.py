"""Writes every table of the results from the JSON records beside this file.

    python docs/results/make_tables.py            rewrite the tables between the markers
    python docs/results/make_tables.py --check    exit with 1 and name the pages that differ

A table stands between `<!-- table: NAME -->` and `<!-- /table -->`, on any page of docs/; text around it is written by
hand. Run it after a benchmark has written its JSON.
"""

import argparse
import re
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tables import alignment, craft, evidence, guides, headlines, quality, speed

DOCS = Path(__file__).parents[1]
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n)(.*?)(<!-- /table -->)", re.DOTALL)
TABLES = {
    "headlines": headlines.headlines,
    "length": quality.length,
    "length-real": quality.length_real,
    "length-joined": quality.length_joined,
    "multi30k": quality.multi30k,
    "multi30k-published": headlines.multi30k_published,
    "guide-multi30k": quality.guide_multi30k,
    "mechanisms": quality.mechanisms,
    "demo": quality.demo,
    "demo-by-length": quality.demo_by_length,
    "everyday": quality.everyday,
    "everyday-count": quality.everyday_count,
    "everyday-en-fr": partial(quality.everyday_judged, "en-fr"),
    "everyday-fr-en": partial(quality.everyday_judged, "fr-en"),
    "everyday-en-hi": partial(quality.everyday_judged, "en-hi"),
    "boxed": quality.boxed,
    "boxed-en-fr": partial(quality.boxed_judged, "en-fr"),
    "boxed-fr-en": partial(quality.boxed_judged, "fr-en"),
    "pronunciation": quality.pronunciation,
    "pronunciation-languages": quality.pronunciation_languages,
    "pronunciation-by-language": quality.pronunciation_by_language,
    "hansards": alignment.hansards,
    "hansards-short": alignment.hansards_short,
    "readings": alignment.readings,
    "guide-readings": alignment.guide_readings,
    "symmetrisation": alignment.symmetrisation,
    "forcing-reverse": craft.forcing_reverse,
    "forcing-exposure": craft.forcing_exposure,
    "forcing-phrasebook": craft.forcing_phrasebook,
    "forcing-multi30k": craft.forcing_multi30k,
    "packing-reverse": craft.packing_reverse,
    "packing-phrasebook": craft.packing_phrasebook,
    "diagnosis": craft.diagnosis,
    "bench-cpu": partial(speed.bench, "bench_cpu"),
    "bench-gpu": partial(speed.bench, "bench_gpu"),
    "fast-entries-cpu": partial(speed.fast_entries, "fast_entries_cpu", "fast_entries_cpu_full"),
    "fast-entries-gpu": partial(speed.fast_entries, "fast_entries_gpu"),
    "before-after-cpu": partial(speed.before_after, "before_after_cpu"),
    "before-after-gpu": partial(speed.before_after, "before_after_gpu"),
    "additive": speed.additive,
    "score-cost": speed.score_cost,
    "score-cost-gpu": speed.score_cost_gpu,
    "decoding": speed.decoding,
    "decoding-gpu": speed.decoding_gpu,
    "decoding-peers": speed.decoding_peers,
    "decoding-quality": speed.decoding_quality,
    "bulk": speed.bulk,
    "bulk-cost": speed.bulk_cost,
    "prepare": speed.prepare,
    "same-curve": speed.same_curve,
    "faults": speed.faults,
    "kills": speed.kills,
    "fuzz": speed.fuzz,
    "serving": speed.serving,
    "serving-turns": speed.serving_turns,
    "web": speed.web,
    "web-speed": speed.web_speed,
    "gradients": evidence.gradients,
    "similarity": evidence.similarity,
    "parameters": evidence.parameters,
    "variance": evidence.variance,
    "packing-cost": evidence.packing_cost,
    "patterns": evidence.patterns,
    "word-classes": evidence.word_classes,
    "german-classes": evidence.german_classes,
    "other-weights": evidence.other_weights,
    "removed-words": evidence.removed_words,
    "reach": evidence.reach,
    "directions": evidence.directions,
    "beams": evidence.beams,
    "guide-comparison": guides.comparison,
    "guide-shifts": guides.shifts,
    "guide-guided": guides.guided,
    "guide-rounding": guides.rounding,
}


def filled(text: str) -> str:
    """The page with all tables between markers updated."""
    return MARKED.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[4]}", text)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true")
    given = options.parse_args()
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}
    shown = {name for text in pages.values() for _, name, _, _ in MARKED.findall(text)}
    changed = [page for page, text in pages.items() if filled(text) != text]
    for page in changed:
        if not given.check:
            page.write_text(filled(pages[page]), encoding="utf-8")
        sys.stderr.write(f"{page.relative_to(DOCS.parent)}: {'differs' if given.check else 'written'}\n")
    for name in sorted(TABLES.keys() - shown):
        sys.stderr.write(f"table {name}: on no page\n")
    return int(given.check and (bool(changed) or shown != TABLES.keys()))


if __name__ == "__main__":
    sys.exit(main())

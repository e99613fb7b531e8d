"""Self-contained HTML pages: alignments for mouse and keyboard, and reports with scores and charts."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from regard.plot.attention_map import NO_ATTENTION, AttentionMap, Label
from regard.plot.chart import chart_html, table_html
from regard.plot.curves import LengthQuality
from regard.plot.document import document, language_tag
from regard.plot.fonts import font_faces

BUILT = Path(__file__).parents[1] / "server" / "page"
"""The built studio: view.js and view.css draw the same maps without a server."""
TEMPLATE = Path(__file__).with_name("page.html")


@dataclass(frozen=True)
class Score:
    """One line of a report's score table."""

    name: str
    value: str
    meaning: str = ""


def alignment_html(attentions: Sequence[AttentionMap], *, title: str = "Where the model looked") -> str:
    """A page with one or several sentences, for mouse, keyboard and screen reader; needs no network and no server."""
    if not attentions:
        raise ValueError("no sentences for the page; expected at least one AttentionMap")
    return page_html(title, [_sentences(attentions, 2)], attentions=attentions)


def report_html(
    *,
    title: str,
    scores: Sequence[Score] = (),
    quality: Sequence[LengthQuality] = (),
    attentions: Sequence[AttentionMap] = (),
    notes: Sequence[str] = (),
) -> str:
    """A page with example sentences and their heat-maps first, then scores and quality by length (chart and table)."""
    sections = [f"<p>{escape(note)}</p>" for note in notes]
    if attentions:
        sections.append(f"<section><h2>Where the model looked</h2>{_sentences(attentions, 3)}</section>")
    if scores:
        rows = [(score.name, score.value, score.meaning) for score in scores]
        table = table_html("scores", ["measure", "value", "meaning"], rows, words=["meaning"])
        sections.append(f"<section><h2>Scores</h2>{table}</section>")
    sections += [
        f"<section><h2>{escape(each.measure)} by source length</h2>{chart_html(each)}</section>" for each in quality
    ]
    return page_html(title, sections, attentions=attentions)


def page_html(
    title: str,
    sections: Sequence[str],
    *,
    meta: Mapping[str, str] | None = None,
    attentions: Sequence[AttentionMap] = (),
) -> str:
    """A page of sections that are HTML already; its script draws the maps of `attentions`."""
    script, style = _text(BUILT / "view.js"), _text(BUILT / "view.css")
    body, payload = "\n".join(sections), _payload(attentions)
    head = f'<header><h1 dir="auto">{escape(title)}</h1>{_facts((meta or {}).items())}</header>'
    fonts = font_faces(head + body + payload)
    return Template(_text(TEMPLATE)).substitute(
        policy=_policy(script, fonts), title=escape(title), fonts=fonts, style=style, head=head, body=body,
        payload=payload, script=script,
    )  # fmt: skip


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _policy(script: str, fonts: str) -> str:
    """Content security policy: no network, no script but ours (by its hash), no fonts but the embedded ones."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own_fonts = "; font-src data:" if fonts else ""
    allowed = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'{own_fonts}; img-src data: blob:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _payload(attentions: Sequence[AttentionMap]) -> str:
    """The documents for the script, as JSON that cannot close its script element."""
    data = [document(attention) for attention in attentions]
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _sentences(attentions: Sequence[AttentionMap], level: int) -> str:
    """Tables for readers where the page's script does not run, such as e-mail or a notebook on a web site."""
    articles = "\n".join(_article(attention, level) for attention in attentions)
    return f'<div id="view">{articles}</div>'


def _article(attention: AttentionMap, level: int) -> str:
    """One sentence: its facts and the weights as a table."""
    name = document(attention)["name"]
    caption = f'<p class="soft">{escape(attention.caption)}</p>' if attention.caption else ""
    if attention.weights is None:
        content = f"<p>{NO_ATTENTION.capitalize()}.</p>"
    else:
        missing = attention.missing
        lacking = f'<p class="soft">Rows may sum to less than 1: {missing}.</p>' if missing else ""
        opens = any(label.text.startswith("▁") for label in (*attention.source, *attention.target))
        lacking += '<p class="soft">▁ begins a word.</p>' if opens else ""
        content = f'{lacking}<div class="scroll" data-name="attention weights, table">{_table(attention)}</div>'
    heading = f'<h{level} dir="auto">{escape(name)}</h{level}>'
    return f"<article>{heading}{_facts(attention.facts)}{caption}{content}</article>"


def _table(attention: AttentionMap) -> str:
    """Rows written, columns read, weights from 0 to 1."""
    source, target = attention.languages
    heads = "".join(f'<th scope="col">{_word(label, source)}</th>' for label in attention.source)
    rows = "".join(
        f'<tr><th scope="row">{_word(label, target)}</th>'
        + "".join(f'<td class="number">{weight:.3f}</td>' for weight in row)
        + "</tr>"
        for label, row in zip(attention.target, attention.drawn(), strict=True)
    )
    return (
        '<table class="plain"><caption>Attention weights; rows written, columns read</caption>'
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _word(label: Label, language: str) -> str:
    if label.special:
        return f'<span class="chip">{escape(label.shown)}</span>'
    code = language_tag(language)
    lang = f' lang="{code}"' if code else ""
    return f'<bdi{lang} dir="auto">{escape(label.shown)}</bdi>'


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f'<div><dt>{escape(k)}</dt><dd dir="auto">{escape(v)}</dd></div>' for k, v in facts)
    return f'<dl class="facts">{rows}</dl>' if rows else ""

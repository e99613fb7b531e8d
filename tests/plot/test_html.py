"""Self-contained pages: everything escaped, nothing from the network, a table with the weights of the map."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from regard.plot import AttentionMap, LengthQuality, Score, System, alignment_html, report_html

EVIL = "</script><script>alert('x')</script><img src=x onerror=alert(1)>&\"'"


class Page(HTMLParser):
    """Tags with their attributes, text by tag, and the content of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.in_script = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.in_script = True
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.in_script = self.in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self.in_script:
            self.scripts[-1] += data
        else:
            self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def evil() -> AttentionMap:
    facts, languages = [(EVIL, EVIL)], (EVIL, "hi-Deva")
    return AttentionMap(
        np.eye(2), [EVIL, "b"], [EVIL, None], title=EVIL, caption=EVIL, facts=facts, languages=languages
    )


def test_source_text_is_never_html(evil: AttentionMap) -> None:
    quality = LengthQuality(EVIL, (EVIL,), (3,), (System(EVIL, (50,), (40,), (60,)),))
    page = report_html(
        title=EVIL,
        scores=[Score(EVIL, EVIL, EVIL)],
        quality=[quality],
        attentions=[evil, evil],
        notes=[EVIL],
    )
    parsed = Page(page)
    assert len(parsed.all("script")) == 2, "the numbers and our own script, nothing else"
    assert parsed.all("img") == []
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    data = json.loads(parsed.scripts[0])
    first = data[0]
    assert (first["source"]["pieces"][0]["text"], first["source"]["pieces"][0]["special"]) == (
        EVIL.replace(" ", "␣"),
        None,
    )
    assert (first["target"]["pieces"][1]["text"], first["target"]["pieces"][1]["special"]) == ("", "EOS")
    languages = [first[side]["language"] for side in ("source", "target")]
    assert languages == [None, "hi-Deva"], "a language that is none is left out"
    assert not set("<>&") & set(parsed.scripts[0])


def test_the_page_holds_the_weights(cat: AttentionMap) -> None:
    data = json.loads(Page(alignment_html([cat])).scripts[0])[0]
    np.testing.assert_allclose(data["attention"]["data"], cat.drawn()[None, None], atol=1e-4)
    assert data["gold"] == [[0, 0], [1, 2], [2, 1], [3, 4]]
    assert data["possible"] == [[3, 3]]
    assert data["links_unit"] == "piece"


def test_the_page_holds_layers_heads_and_words() -> None:
    tensor = np.array([[[[0.5, 0.25, 0.25]], [[0.1, 0.5, 0.4]]]])
    words = AttentionMap(np.array([[0.675, 0.3]]), ["lights", None], ["लाइट"])
    made = AttentionMap(tensor.mean((0, 1)), ["▁light", "s", None], ["लाइट"], tensor=tensor, words=words)
    page = alignment_html([made])
    data = json.loads(Page(page).scripts[0])[0]
    assert data["attention"]["shape"] == [1, 2, 1, 3]
    assert data["attention"]["data"] == tensor.tolist()
    assert [word["text"] for word in data["source"]["words"]] == ["lights"]
    assert data["word_attention"] == {
        "shape": [1, 1], "unit": "word", "data": [[0.675]], "elsewhere": [0.3], "missing": [0.025]
    }  # fmt: skip
    assert "▁ begins a word" in page[: page.index("<script")]
    with pytest.raises(ValueError, match=r"the tensor is \(1, 2, 3\); expected \[layer, head, target, source\]"):
        AttentionMap(np.eye(1), ["a"], ["b"], tensor=np.zeros((1, 2, 3)))


def test_right_to_left_text_has_its_direction() -> None:
    data = json.loads(Page(alignment_html([AttentionMap(np.eye(1), ["cat"], ["القطة"])])).scripts[0])[0]
    assert [data[side]["direction"] for side in ("source", "target")] == ["ltr", "rtl"]


def test_the_table_holds_the_weights_of_the_map(cat: AttentionMap) -> None:
    page = alignment_html([cat])
    table = page[page.index('<table class="plain">') : page.index("</table>")]
    heads = re.findall(r'<th scope="col">(.*?)</th>', table)
    assert heads[1] == '<bdi lang="en" dir="auto">black</bdi>'
    assert heads[4] == '<span class="chip">EOS</span>'
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', table)
    assert rows[2][0] == '<bdi lang="fr" dir="auto">noir</bdi>'
    assert re.findall(r">([\d.]+)<", rows[2][1]) == ["0.020", "0.930", "0.050", "0.000", "0.000"]


def test_nothing_comes_from_the_network_and_only_our_script_may_run(cat: AttentionMap) -> None:
    page = alignment_html([cat])
    parsed = Page(page)
    policy = next(str(a["content"]) for a in parsed.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(parsed.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not any("src" in attributes or "href" in attributes for _, attributes in parsed.tags)
    addresses = set(re.findall(r"https?://[\w./-]+", page))
    foreign = {one for one in addresses if not one.startswith(("http://www.w3.org/", "https://svelte.dev/e/"))}
    assert not foreign, "names of vocabularies and of error messages, never fetched"
    style = page[page.index("<style") : page.rindex("</style>")]
    assert "@import" not in style
    assert "url(" not in style


def test_eos_is_never_shown_as_markup() -> None:
    page = alignment_html([AttentionMap(np.eye(2), ["a", "</s>"], ["b", None])])
    assert "/s&gt;" not in page
    assert "/s\\u003e" not in page


def test_every_sentence_has_its_table_where_no_script_runs(cat: AttentionMap, lights: AttentionMap) -> None:
    page = alignment_html([cat, lights])
    page = page[: page.index("<script")]
    assert re.findall(r'<h2 dir="auto">(.*?)</h2>', page) == ["the black cat sat", "turn off the lights"]
    assert page.count("<article") == page.count('<table class="plain">') == 2


def test_a_model_without_attention_has_a_note_and_no_map() -> None:
    page = alignment_html([AttentionMap(None, ["a"], ["b"], title="vanilla")])
    assert "One fixed vector, no alignment exists" in page
    assert json.loads(Page(page).scripts[0])[0]["attention"] is None
    assert "<table" not in page[: page.index("<script")]


def test_a_report_has_scores_and_a_chart_with_its_table() -> None:
    attention = System("attention", (99.0, 97.5, None, 90), (98, 95, None, 80), (100, 99, None, 95))
    none = System("none", (96, 0.5, None, None))
    quality = LengthQuality("BLEU", ("3-5", "6-10", "11-20", "21+"), (40, 60, 0, 9), (attention, none))
    page = report_html(title="Report", scores=[Score("exact match", "0.978", "of whole sentences")], quality=[quality])
    assert '<th scope="row">exact match</th><td class="number" dir="auto">0.978</td>' in page
    assert "n=40" in page
    assert re.findall(r'<td class="number"[^>]*>(.*?)</td>', page[page.index("<caption>BLEU") :]) == [
        *("40", "60", "0", "9"),
        *("99.0 (98.0 to 100.0)", "97.5 (95.0 to 99.0)", "–", "90.0 (80.0 to 95.0)"),
        *("96.0", "0.5", "–", "–"),
    ]
    assert '<svg class="chart"' in page


def test_the_same_input_gives_the_same_page(cat: AttentionMap) -> None:
    assert alignment_html([cat]) == alignment_html([cat])


def test_a_page_without_sentences_is_refused() -> None:
    with pytest.raises(ValueError, match="no sentences for the page"):
        alignment_html([])


def test_missing_attention_is_noted() -> None:
    assert "up to 40% of a row" in alignment_html([AttentionMap(np.array([[0.6]]), ["a"], ["x"])])


def embedded(page: str) -> list[TTFont]:
    """The fonts inside a page, as a browser reads them."""
    found = re.findall(r"url\(data:font/woff;base64,([A-Za-z0-9+/=]+)\) format\(\"woff\"\)", page)
    return [TTFont(BytesIO(base64.b64decode(data, validate=True))) for data in found]


def test_a_page_brings_the_glyphs_of_its_own_text_and_no_more(cat: AttentionMap, lights: AttentionMap) -> None:
    page = alignment_html([lights])
    (font,) = embedded(page)
    assert {chr(point) for point in font.getBestCmap()} == {*"लाइटबंदकरो", "\u200c", "\u200d", "◌"}
    assert "font-src data:" in page
    assert 'font-family: "regard"' in page
    assert len(page) - len(alignment_html([cat])) < 30_000
    for other in (alignment_html([cat]), alignment_html([cat], title="Ελληνικά, адыгэ")):
        assert not embedded(other)
        assert "font-src" not in other


@pytest.mark.parametrize(
    ("text", "fonts"),
    [("है।", 1), ("ひらがな。", 1), ("한글", 1), ("한글 ひ है \x1b", 4), ("\uac02", 0), ("猫", 0)],
    ids=["hindi", "kana", "hangul", "all", "rare-syllable", "kanji"],
)
def test_each_script_brings_its_own_font(text: str, fonts: int) -> None:
    page = alignment_html([AttentionMap(np.eye(1), ["a"], [text])])
    assert len(embedded(page)) == fonts
    ranges = re.findall(r"unicode-range: ([^;]*);", page)
    assert len(ranges) == fonts
    assert all(re.fullmatch(r"U\+[0-9A-F]+(,U\+[0-9A-F]+)*", one) for one in ranges)


def test_an_embedded_font_forms_conjuncts(tmp_path: Path) -> None:
    """Drawn by matplotlib with nothing but the page's own font."""
    (font,) = embedded(alignment_html([AttentionMap(np.eye(1), ["a"], ["क्ष"])]))
    font.flavor = None
    font.save(tmp_path / "embedded.ttf")
    prop = FontProperties(fname=tmp_path / "embedded.ttf")
    width = {text: np.ptp(TextPath((0, 0), text, prop=prop).vertices[:, 0]) for text in ("क्ष", "क", "ष")}
    assert width["क्ष"] < 0.9 * (width["क"] + width["ष"])


def test_a_report_shows_heat_maps_before_charts() -> None:
    made = AttentionMap(np.eye(2), "a b", "x y")
    quality = LengthQuality("BLEU", ("1–5", "6–10"), (3, 4), (System("model", (50.0, 40.0)),))
    page = report_html(title="t", scores=[Score("BLEU", "50")], quality=[quality], attentions=[made])
    places = [page.index(f"<h2>{title}") for title in ("Where the model looked", "Scores", "BLEU by source length")]
    assert places == sorted(places)

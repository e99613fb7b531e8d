"""The page that translates without a server, in a real Chromium: as Python does, offline, from a disk, on a phone."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from export.web_texts import texts, tokenizers
from regard.bundle.find import find_bundle
from regard.bundle.store import load_bundle
from regard.data import phrasebook
from regard.export.web_model import rounded
from regard.runtime.translator import Translator
from runtime.bundles import pronouncing, untrained
from studio.browser_pages import BrowserPage, export, opened, serving
from studio.conftest import CAT

MODELS = {
    "luong-bpe": ("luong", "bpe", {}),
    "local-p": ("luong", "word", {"window": "local-p", "reach": 2}),
    "local-m-lstm": ("bahdanau", "unigram", {"window": "local-m", "reach": 2, "cell": "lstm"}),
    "vanilla": ("vanilla", "character", {}),
    "transformer": ("transformer", "bpe", {}),
}
KEPT = """async () => {
    const found = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
    return found.flat().some((one) => one.url.endsWith("models/demo-en-fr.js"));
}"""
RECURRENT = [name for name in MODELS if name != "transformer"]
TEXTS = [
    CAT, "Jane visits Africa in September.", "don't turn off the lights, please!", "the zebra sat", "Turn off Jane",
    "the lights, the cat: the mat!", "please please please", "cat", "",
]  # fmt: skip


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("web")
    bundles = [untrained(base / name, one, kind, model=model) for name, (one, kind, model) in MODELS.items()]
    return export(base / "page", ["demo-en-fr", "demo-en-hi", *bundles, pronouncing(base / "phones")])


@pytest.fixture(scope="module")
def site(page_folder: Path) -> Iterator[str]:
    with serving(page_folder) as server:
        yield f"http://127.0.0.1:{server.server_port}/"


@pytest.fixture
def page(browser: Any, site: str) -> Iterator[BrowserPage]:
    with opened(browser, site) as found:
        yield found


def reference(folder: Path, model: str) -> Translator:
    """The model as the page has it: int8 weights, computed in float32."""
    place = folder.parent / model
    return Translator(rounded(load_bundle(place if place.is_dir() else find_bundle(model))))


def differences(mine: dict[str, Any], wanted: Any) -> list[str]:
    """What differs between an answer of the page and a translation of Python."""
    found = []
    (best,) = mine["hypotheses"] or [None]
    if best is None:
        return [] if not wanted.target_pieces else ["nothing"]
    if best["target"]["text"] != wanted.text:
        return [f"{best['target']['text']!r} instead of {wanted.text!r}"]
    if abs(best["score"] - wanted.score) > 1e-3 or abs(best["normalised_score"] - wanted.normalised_score) > 1e-3:
        found.append(f"score {best['score']} instead of {wanted.score}")
    if [one["word"] for one in best["target"]["pieces"]] != list(wanted.target_word_of):
        found.append("words of pieces")
    if sorted(map(tuple, best["alignment"] or [])) != sorted(wanted.alignment):
        found.append("alignment")
    if wanted.attention is not None:
        weights = np.array(best["attention"]["data"])
        if weights.shape != wanted.attention.shape or np.abs(weights - wanted.attention).max() > 1e-4:
            found.append("weights")
    return found


class TestAsPython:
    @pytest.mark.parametrize(
        "model", [pytest.param(one, marks=() if one == "transformer" else pytest.mark.long) for one in MODELS]
    )
    def test_every_kind_of_model_translates_alike(self, page: BrowserPage, page_folder: Path, model: str) -> None:
        python = reference(page_folder, model)
        page.open()
        for options in ({"beam": 1}, {"beam": 4}, {"beam": 3, "nbest": 1, "length_penalty": 0.5}):
            for text in TEXTS:
                mine = page.call("translate", {"model": model, "text": text, **options})
                assert not differences(mine, python.translate(text, **options)), (text, options)
        for target in ("le chat", "jane visite l'afrique", "le ✗ ✗ chat"):
            mine = page.call("translate", {"model": model, "text": CAT, "mode": "forced", "target": target})
            wanted = python.translate(CAT, target=target)
            assert not differences(mine, wanted), target
            assert mine["warnings"] == list(wanted.warnings)
            assert any("✗" in one for one in wanted.warnings) == ("✗" in target)
        mine = page.call("translate", {"model": model, "text": CAT, "prefix": "le noir", "beam": 2})
        assert not differences(mine, python.translate(CAT, prefix="le noir", beam=2))
        many = page.call("many", model, TEXTS, 4, 3)
        assert many == [one.text for one in python.translate(TEXTS, beam=4)]

    @pytest.mark.long
    def test_a_demo_translates_alike(self, page: BrowserPage, page_folder: Path) -> None:
        python = reference(page_folder, "demo-en-hi")
        page.open()
        texts = [one.source for one in phrasebook.showcase("en-hi")][:12]
        for beam in (1, 4):
            for text, wanted in zip(texts, python.translate(texts, beam=beam), strict=True):
                assert not differences(
                    page.call("translate", {"model": "demo-en-hi", "text": text, "beam": beam}), wanted
                )

    @pytest.mark.long
    @pytest.mark.parametrize("model", ["local-p", "local-m-lstm", "transformer", "vanilla", "demo-en-fr"])
    def test_the_stages_of_a_step_are_those_of_the_server(
        self, page: BrowserPage, page_folder: Path, model: str
    ) -> None:
        from regard.runtime.traced import translate_traced
        from regard.server.answers import step_answer
        from regard.server.planning import plan
        from regard.server.schema.views import StepRequest
        from regard.server.served_models import Catalogue
        from regard.server.settings import Settings

        path = page_folder.parent / model
        loaded = Catalogue(Settings(bundles=(path if path.is_dir() else model,))).get(model)
        object.__setattr__(loaded, "translator", reference(page_folder, model))
        page.open()
        for step in (0, 1):
            request = StepRequest(model=model, text="the cat", mode="forced", target="le chat", step=step, top=5)
            planned = plan(request, loaded)
            tracing = planned.tracing(top=5, trace=True)
            (text,) = translate_traced(loaded.translator, [planned.sentence], dict(planned.search), tracing)
            wanted = step_answer(request, loaded, text).model_dump(mode="json")
            assert_alike(page.call("step", request.model_dump(mode="json")), wanted, "step")

    @pytest.mark.long
    @pytest.mark.parametrize("model", ["demo-en-fr", "local-m-lstm", "phones"])
    def test_dropped_words_change_what_they_change_in_python(
        self, page: BrowserPage, page_folder: Path, model: str
    ) -> None:
        from regard.runtime.spoken_words import read_text
        from regard.runtime.traced import drop_words

        python, text = reference(page_folder, model), "cat" if model == "phones" else "the black cat"
        page.open()
        mine = page.call("occlusion", {"model": model, "text": text})
        wanted = python.inside(text, beam=1)
        source = read_text(text, python.bundle, python.longest_source)
        dropped = drop_words(python, source, wanted.target_ids)
        assert [one["word"] for one in mine["rows"]] == [0, 1, 2]
        for row, values in zip(mine["rows"], dropped, strict=True):
            assert sum(row["log_probabilities"]) == pytest.approx(sum(values), abs=1e-3)

    @pytest.mark.long
    def test_a_pronunciation_model_reads_word_by_word(self, page: BrowserPage, page_folder: Path) -> None:
        python = reference(page_folder, "phones")
        page.open()
        for text in ("synchronise", "Caf\u00e9!", "b42", "don\u2019t", "42", ""):
            mine, wanted = (
                page.call("translate", {"model": "phones", "text": text, "beam": 3}),
                python.translate(text, beam=3),
            )
            assert not differences(mine, wanted), text
            assert tuple(mine["warnings"]) == wanted.warnings, text
        texts = ["Hello, well-known world & co", "caf\u00e9 42", "...", "word"]
        assert page.call("many", "phones", texts, 3) == [one.text for one in python.translate(texts, beam=3)]
        page.open(model="phones", text="hello world")
        page.page.get_by_text("has 2 words, and this model reads one at a time").first.wait_for()

    def test_one_layer_or_no_attention_is_answered_as_by_the_server(self, page: BrowserPage) -> None:
        page.open()
        request = {"model": "transformer", "text": "the cat", "mode": "forced", "target": "le chat"}
        whole = page.call("translate", request)["hypotheses"][0]
        one = page.call("translate", {**request, "layer": 1})["hypotheses"][0]
        assert one["attention"] == whole["attention"] | {"layers": [1], "data": whole["attention"]["data"][1:2]}
        none = page.call("translate", {**request, "attention": False})["hypotheses"][0]
        assert none == whole | {"attention": None, "word_attention": None}


def assert_alike(mine: Any, wanted: Any, where: str) -> None:
    """The same JSON, numbers within 1e-4."""
    if isinstance(wanted, dict):
        assert wanted.keys() == mine.keys(), where
        for key in wanted:
            assert_alike(mine[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        assert len(mine) == len(wanted), where
        for i, (one, other) in enumerate(zip(mine, wanted, strict=True)):
            assert_alike(one, other, f"{where}[{i}]")
    elif isinstance(wanted, float):
        assert mine == pytest.approx(wanted, abs=1e-4), where
    else:
        assert mine == wanted, where


@pytest.mark.long
class TestGoldenVectors:
    """The models of the package and tokenizers of every kind, held to Python."""

    def test_two_thousand_texts_are_tokenised_alike(self, browser: Any, tmp_path: Path) -> None:
        from regard.bundle import save_bundle
        from regard.models import Seq2Seq, preset

        every = tokenizers()
        for name, one in every.items():
            config = preset("bahdanau", "tiny", embedding=8, encoder_units=8, decoder_units=8)
            model = Seq2Seq(config, len(one), len(one))
            save_bundle(tmp_path / name, model, one, one, source_eos=True, longest_source=500)
        folder = export(tmp_path / "page", ["en-fr", "demo-en-hi", *(tmp_path / name for name in every)])
        every |= {name: load_bundle(find_bundle(name)).source for name in ("en-fr", "demo-en-hi")}
        given = texts(2000)
        with serving(folder) as server, opened(browser, f"http://127.0.0.1:{server.server_port}/") as page:
            page.open()
            for name, one in every.items():
                for text, mine in zip(given, page.call("tokens", name, given), strict=True):
                    wanted = one.encode(text)
                    found = mine["ids"], mine["pieces"], mine["words"], mine["wordTexts"], mine["text"], mine["spans"]
                    spans = [list(span) for span in wanted.spans]
                    ids, pieces, words = list(wanted.ids), list(wanted.pieces), list(wanted.words)
                    assert found == (ids, pieces, words, list(wanted.word_texts), wanted.text, spans), (name, text)

    @pytest.mark.parametrize("model", ["en-fr", "fr-en", "demo-en-hi", "g2p-en"])
    def test_two_hundred_sentences_are_translated_alike(self, browser: Any, tmp_path: Path, model: str) -> None:
        python = Translator(rounded(load_bundle(find_bundle(model))))
        given = _sentences(model)[:200]
        folder = export(tmp_path / "page", [model])
        with serving(folder) as server, opened(browser, f"http://127.0.0.1:{server.server_port}/") as page:
            page.open()
            for beam in (1, 4):
                wanted = python.translate(given, beam=beam)
                assert page.call("many", model, given, beam) == [one.text for one in wanted]
                for text, one in zip(given, wanted, strict=True):
                    mine = page.call("translate", {"model": model, "text": text, "beam": beam})
                    assert not differences(mine, one), text


def _sentences(model: str) -> list[str]:
    """Everyday sentences of the results, their words, or phrasebook sentences; longer ones are two of them together."""
    if model.startswith("demo-"):
        pair = model.removeprefix("demo-")
        return [one.source for one in phrasebook.pairs(pair, "test", 200)]
    results = Path(__file__).parents[2] / "docs" / "results"
    side = 1 if model == "fr-en" else 0
    rows = [line.split("\t") for line in (results / "everyday-new.tsv").read_text(encoding="utf-8").splitlines()]
    short = [row[side] for row in rows if len(row) == 2]
    if model == "g2p-en":
        return list(dict.fromkeys(word.strip(".,?!") for one in short for word in one.split() if word.isascii()))
    return [*short, *(f"{one} {other}" for one, other in zip(short, short[7:], strict=False)),
            *(one.rstrip(" .?!").lower() for one in short), *(one.upper() for one in short[:30])]  # fmt: skip


class TestOptions:
    """What `regard` accepts in the page is what the server accepts."""

    @pytest.mark.parametrize("name", ["translate", "step", "occlusion"])
    def test_names_and_limits_are_those_of_the_server(self, page: BrowserPage, name: str) -> None:
        from regard.server.schema.translating import TranslateRequest
        from regard.server.schema.views import OcclusionRequest, StepRequest

        schemas = {"translate": TranslateRequest, "step": StepRequest, "occlusion": OcclusionRequest}
        known = schemas[name].model_json_schema()["properties"]
        page.open()
        listed = refusal(page, name, {"text": "cat", "?": 1})["message"].partition("valid options are ")[2]
        assert sorted(listed.split(", ")) == sorted(known)
        found = {}
        for option, schema in known.items():
            for kind in schema.get("anyOf", [schema]):
                if kind.get("type") in ("integer", "number"):
                    found[option] = kind
        assert bool(found) == (name != "occlusion")
        for option, kind in found.items():
            less, more = (1, 2) if kind["type"] == "integer" else (1e-6, 1e-6)  # 2 ** 53 + 1 is no number of JavaScript
            least = kind.get("minimum", kind.get("exclusiveMinimum", 0) + less)
            most = kind.get("maximum", 1)
            rest = {"model": "missing", "text": "cat", **({"temperature": 1} if option in ("top_k", "top_p") else {})}
            for value in (least, most):
                assert "There is no model" in refusal(page, name, {**rest, option: value})["message"], (option, value)
            for value in (least - less, most + more):
                refused = refusal(page, name, {**rest, option: value})
                assert refused["field"] == option, (option, value)
                assert " given, expected a" in refused["message"]

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (["translate", {"text": CAT, "beam": 1e9}], "beam: 1000000000 given, expected a whole number from 1 to 16"),
            (["translate", {"text": "a", "beam": 2, "nbest": 9}], "nbest: 9 is more than beam 2 can find"),
            (["translate", {"text": CAT, "bem": 2}], "translate has no option 'bem': did you mean 'beam'?"),
            (["translate", {"text": 5}], "text: 5 given, expected a string"),
            (["translate", ""], "translate: '' given, expected an object of options"),
            (["translate"], "translate: undefined given, expected an object of options"),
            (["many", "demo-en-hi", ["cat", "x" * 5001]], "texts[1]: 5,001 characters given, at most 5,000 accepted"),
            (["many", "demo-en-hi", "cat"], "texts: 'cat' given, expected an array"),
            (["many", "demo-en-hi", ["cat"], 4, 65], "together: 65 given, expected a whole number from 1 to 64"),
            (["tokens", None, ["cat"]], "model: required, but not given"),
        ],
    )  # fmt: skip
    def test_a_wrong_value_is_refused_with_what_is_allowed(
        self, page: BrowserPage, call: list[Any], message: str
    ) -> None:
        page.open()
        assert refusal(page, *call)["message"].startswith(message)

    def test_an_index_that_the_model_does_not_have_is_refused(self, page: BrowserPage) -> None:
        page.open()
        refused = refusal(page, "translate", {"model": "transformer", "text": CAT, "layer": 64})
        assert refused["message"].startswith("layer: 64 given, this model has layers 0 to ")
        refused = refusal(page, "step", {"model": "luong-bpe", "text": CAT, "nbest": 2, "hypothesis": 5})
        assert refused["message"].startswith("hypothesis: 5 given, there are ")

    def test_the_page_shows_why_an_address_is_refused(self, page: BrowserPage) -> None:
        page.open(model="demo-en-hi", text=CAT, beam=99)
        page.page.get_by_role("alert").get_by_text("beam: 99 given, expected a whole number from 1 to 16").wait_for()


def refusal(page: BrowserPage, *call: Any) -> dict[str, Any]:
    """Message and field of the Error that a function of the page's `regard` rejects with; fails if it answers."""
    script = """([name, ...rest]) => regard[name](...rest).then(
        () => { throw new Error("accepted") }, (one) => ({ message: one.message, field: one.field ?? null }))"""
    return dict(page.page.evaluate(script, list(call)))


class TestAsAPerson:
    def test_a_translation_appears_with_its_attention(self, page: BrowserPage) -> None:
        page.open(model="demo-en-hi", text=CAT)
        page.page.get_by_test_id("translation").wait_for()
        assert page.translation() == "काली बिल्ली चटाई पर बैठी थी"
        assert page.page.get_by_role("grid").first.get_by_role("gridcell").count() == 6 * 8
        _look(page, "hindi")

    @pytest.mark.long
    def test_typing_choosing_a_model_and_forcing_a_word_by_keyboard(self, page: BrowserPage) -> None:
        page.open()
        page.page.get_by_label("Model").select_option("demo-en-fr")
        page.page.get_by_label("Source (English)").fill(CAT)
        page.page.keyboard.press("Enter")
        page.page.get_by_test_id("translation").wait_for()
        first = page.translation()
        choice = page.page.get_by_role("list", name="Most probable words").get_by_role("button").nth(1)
        word = str(choice.text_content()).split()[0]
        choice.focus()
        page.page.keyboard.press("Enter")
        page.page.wait_for_function(
            "before => document.querySelector('[data-testid=translation]').textContent.trim() !== before", arg=first
        )
        assert page.translation().startswith(word)
        page.page.get_by_role("button", name="Translate freely").click()
        page.page.wait_for_function(
            "before => document.querySelector('[data-testid=translation]').textContent.trim() === before", arg=first
        )

    def test_a_smaller_beam_lists_fewer_translations(self, page: BrowserPage) -> None:
        page.open(model="demo-en-hi", text=CAT, beam=4, nbest=4)
        page.page.get_by_text("Options", exact=True).click()
        page.page.get_by_label("Beam 4").fill("2")
        page.page.wait_for_function("location.hash.endsWith('&beam=2&nbest=2')")

    @pytest.mark.long
    def test_the_walk_shows_every_stage(self, page: BrowserPage) -> None:
        page.open("walk", model="demo-en-fr", text=CAT, step=1, stage="softmax")
        page.page.get_by_test_id("sum").wait_for()
        assert "sum to 1.000" in str(page.page.get_by_test_id("sum").text_content())
        page.page.keyboard.press("ArrowRight")
        page.page.get_by_text("Step 3 of", exact=False).first.wait_for()
        _look(page, "walk")

    @pytest.mark.long
    def test_an_edited_row_is_computed_here(self, page: BrowserPage) -> None:
        page.open(model="demo-en-fr", text="the black cat", edit="0:0,0,1,0")
        page.page.get_by_test_id("translation").wait_for()
        page.page.get_by_text("Row 1 is edited").wait_for()
        assert page.page.get_by_role("gridcell").nth(2).get_attribute("data-value") == "1"

    @pytest.mark.long
    def test_a_dropped_word_shows_what_it_changed(self, page: BrowserPage) -> None:
        page.open(model="demo-en-fr", text="the black cat")
        page.page.get_by_test_id("translation").wait_for()
        words = page.page.get_by_role("group", name="Source words to drop")
        words.get_by_role("button", name="black").click()
        page.page.get_by_test_id("without").wait_for()
        assert str(page.page.get_by_test_id("without").text_content()).split(":")[1].strip() == "le chat"
        rows = page.page.get_by_role("table", name="Attention to the dropped word").get_by_role("rowheader")
        assert [str(text).strip() for text in rows.all_text_contents()][:3] == ["le", "chat", "noir"]
        _look(page, "occlusion")

    @pytest.mark.long
    def test_a_phone_shows_everything_without_sideways_scrolling(self, browser: Any, site: str) -> None:
        with opened(browser, site, viewport={"width": 360, "height": 740}, has_touch=True) as page:
            page.open(model="demo-en-hi", text=CAT)
            page.page.get_by_test_id("translation").wait_for()
            for view in ("translate", "walk"):
                page.open(view, model="demo-en-hi", text=CAT)
                page.page.wait_for_timeout(500)
                assert page.page.evaluate("document.documentElement.scrollWidth") <= 360
                _look(page, f"phone-{view}")

    @pytest.mark.long
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_axe_finds_nothing_serious(self, browser: Any, site: str, scheme: str) -> None:
        from axe_playwright_python.sync_playwright import Axe

        with opened(browser, site, color_scheme=scheme) as page:
            page.open(model="demo-en-fr", text=CAT)
            page.page.get_by_test_id("translation").wait_for()
            found = Axe().run(page.page).response["violations"]
            assert not [one["id"] for one in found if one["impact"] in ("serious", "critical")]


class TestWithoutAServer:
    @pytest.mark.long
    def test_it_works_offline_after_the_first_load(self, browser: Any, page_folder: Path) -> None:
        with serving(page_folder) as server, opened(browser, f"http://127.0.0.1:{server.server_port}/") as page:
            page.open(model="demo-en-fr", text=CAT)
            page.page.get_by_test_id("translation").wait_for()
            before = page.translation()
            page.page.wait_for_function(KEPT)
            page.page.context.set_offline(True)
            server.shutdown()
            page.page.goto("about:blank")
            page.open(model="demo-en-fr", text=CAT)
            page.page.get_by_test_id("translation").wait_for()
            assert page.translation() == before
            page.open(model="demo-en-hi", text=CAT)
            page.page.get_by_text("models/demo-en-hi.js could not be loaded").wait_for()
            page.troubles[:] = [one for one in page.troubles if "foreign" in one]

    def test_it_works_from_a_disk(self, browser: Any, page_folder: Path) -> None:
        with opened(browser, f"file://{page_folder}/index.html") as page:
            page.open(model="demo-en-hi", text=CAT)
            page.page.get_by_test_id("translation").wait_for()
            assert page.translation() == "काली बिल्ली चटाई पर बैठी थी"

    def test_a_damaged_model_is_reported(self, browser: Any, tmp_path: Path) -> None:
        folder = export(tmp_path / "page", ["demo-en-fr"])
        model = folder / "models" / "demo-en-fr.js"
        model.write_bytes(model.read_bytes()[:-5000])
        with serving(folder) as server, opened(browser, f"http://127.0.0.1:{server.server_port}/") as page:
            page.open(model="demo-en-fr", text=CAT)
            page.page.get_by_role("alert").get_by_text("models/demo-en-fr.js is damaged").wait_for()
            page.open(model="missing", text=CAT)
            page.page.get_by_role("alert").get_by_text("There is no model “missing”").wait_for()


def _look(page: BrowserPage, name: str) -> None:
    """Screenshots for people: REGARD_SCREENSHOTS names a folder."""
    if folder := os.environ.get("REGARD_SCREENSHOTS"):
        page.page.screenshot(path=f"{folder}/web-{name}.png", full_page=True)

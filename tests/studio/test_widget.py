"""The widget of `regard.view`: made in a real kernel, rendered in Chromium as a notebook's front end does."""

import json
from pathlib import Path
from typing import Any

import pytest

import regard
from regard.plot import widget

HOST = """<!doctype html><div id="el"></div><script type="module">
const values = __VALUES__, heard = {};
window.model = {
  saved: [], get: (name) => values[name], set: (name, value) => { values[name] = value; },
  save_changes: () => model.saved.push(values.cell),
  on: (name, act) => { heard[name] = act; }, off: (name) => { delete heard[name]; },
  change: (page) => { values.page = page; heard["change:page"](); },
};
const made = new Blob([__SCRIPT__], { type: "text/javascript" });
const { default: { render } } = await import(URL.createObjectURL(made));
window.leave = render({ model, el: document.getElementById("el") });
</script>"""


def host(page: str) -> str:
    """A page that follows the contract of anywidget: `render({ model, el })` of the module."""
    values, script = (json.dumps(one).replace("<", "\\u003c") for one in ({"page": page, "cell": None}, widget.SCRIPT))
    return HOST.replace("__VALUES__", values).replace("__SCRIPT__", script)


def test_a_pinned_cell_is_known_outside(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "host.html"
    path.write_text(host(regard.view([[0.9, 0.1], [0.2, 0.8]], "the cat", "le chat").html()), encoding="utf-8")
    page = browser.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(path.as_uri())
    cell = page.frame_locator("iframe").locator("[data-cell='1,0']")
    cell.click()
    page.wait_for_function("() => JSON.stringify(model.saved.at(-1)) === '[1,0]'")
    frame = page.locator("iframe")
    inside = page.frames[1].evaluate("document.documentElement.offsetHeight")
    page.wait_for_function("height => document.querySelector('iframe').offsetHeight === height", arg=inside)
    cell.press("Escape")
    page.wait_for_function("() => model.saved.at(-1) === null")
    page.evaluate("page => model.change(page)", regard.view([[1.0]], "so", "si").html())
    page.frame_locator("iframe").locator("[data-cell='0,0'][data-value='1']").wait_for()
    page.evaluate("leave()")
    assert frame.count() == 1
    assert troubles == []
    page.close()


@pytest.mark.long
def test_a_kernel_shows_the_widget() -> None:
    """ipykernel sends the widget's own MIME type, and the value of the trait comes back to Python."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    book = nbformat.v4.new_notebook()
    book.cells = [
        nbformat.v4.new_code_cell("import regard\nw = regard.view([[0.9, 0.1]], 'the cat', 'le').widget()\nw"),
        nbformat.v4.new_code_cell("w.cell = [0, 1]\nprint(w.cell, w.page.startswith('<!doctype html>'))"),
    ]
    client.NotebookClient(book, timeout=120).execute()
    shown, said = (cell.outputs[0] for cell in book.cells)
    assert "application/vnd.jupyter.widget-view+json" in shown.data
    assert said.text.strip() == "[0, 1] True"


def test_without_anywidget_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widget, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'regard\[notebook\]'"):
        regard.view([[1.0]], "a", "b").widget()

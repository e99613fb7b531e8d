"""The page of a view as a notebook widget (anywidget): what is pinned in it is known in Python."""

from importlib.util import find_spec
from typing import Any

SCRIPT = """
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Attention";
  frame.style.cssText = "border: 0; width: 100%; height: 40rem";
  const fill = () => { frame.srcdoc = model.get("page"); };
  const hear = (event) => {
    const news = event.source === frame.contentWindow ? event.data?.regard : undefined;
    if (news?.height) frame.style.height = `${news.height}px`;
    if (news?.cell !== undefined) { model.set("cell", news.cell); model.save_changes(); }
  };
  addEventListener("message", hear);
  model.on("change:page", fill);
  fill();
  el.append(frame);
  return () => { removeEventListener("message", hear); model.off("change:page", fill); };
}
export default { render };
"""


def page_widget(page: str) -> Any:
    """An anywidget with the traits `page` (HTML) and `cell`: [row, column] of the pinned cell, or None."""
    if find_spec("anywidget") is None:
        raise ModuleNotFoundError("a widget needs anywidget, not installed here: pip install 'regard[notebook]'")
    import anywidget
    import traitlets

    class AttentionWidget(anywidget.AnyWidget):
        _esm = SCRIPT
        page = traitlets.Unicode().tag(sync=True)
        cell = traitlets.List(traitlets.Int(), allow_none=True, default_value=None).tag(sync=True)

    return AttentionWidget(page=page)

"""Adds to the site what lies outside docs/: README as the home page, the command line, every source file linked to.

Typesets the story's equations and embeds its interactive maps.
"""

import json
import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

import mathml
import numpy as np
from commands import page_of_commands
from mkdocs.structure.files import File, Files

from regard.plot import AttentionMap
from regard.plot.html import alignment_html

ROOT = Path(__file__).parents[2]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files at the root of the repository that are pages of the site, under these names."""
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
EQUATION = "```equation\n"
MAP = re.compile(r"<!-- map: ([\w-]+) -->")
"""Where the site shows a measured map that can be explored; other readers see the picture above it."""
LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json"}
_origins = {page: name for name, page in PAGES.items()}
"""The file of the repository that a generated page shows."""


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated pages, then one for every file and folder outside docs/ that some page links to."""
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    files.append(File.generated(config, "reference/commands.md", content=page_of_commands()))
    for page in _maps(config):
        files.append(page)
    waiting = list(files.documentation_pages())
    while waiting:
        page = waiting.pop()
        for _, target, _ in LINK.findall(_without_code(page.content_string)):
            wanted = _wanted(target, page.src_uri)
            if wanted and wanted.startswith("source/") and files.get_file_from_path(wanted) is None:
                name = _origins[wanted] = _in_repository(target, page.src_uri)
                added = File.generated(config, wanted, content=_shown(_readme_of(name)))
                files.append(added)
                waiting.append(added)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Points the links of a page that leave docs/ at the pages that were added for them."""
    if page.file.src_uri.startswith("source/"):
        page.meta["hide"] = ["navigation", "toc"]  # they are not in the navigation, and their tables need the room

    def moved(link: re.Match[str]) -> str:
        wanted = _wanted(link[2], page.file.src_uri)
        return link[1] + (relpath(wanted, PurePosixPath(page.file.src_uri).parent) if wanted else link[2]) + link[3]

    parts = re.split(r"(^```.*?^```)", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(
        mathml.block(part.removeprefix(EQUATION).removesuffix("```"))
        if part.startswith(EQUATION)
        else part
        if part.startswith("```")
        else MAP.sub(_frame, LINK.sub(moved, part))
        for part in parts
    )


def _frame(found: re.Match[str]) -> str:
    title = f"Attention map, interactive: {found[1]}"
    return f'<iframe class="map" src="maps/{found[1]}.html" title="{title}" loading="lazy"></iframe>'


def _maps(config: Any) -> list[File]:
    """The story's measured maps as the pages that `regard translate --html` writes."""
    record = json.loads((ROOT / "docs" / "story" / "maps.json").read_text(encoding="utf-8"))["maps"]
    story = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "story").glob("*.md"))
    pages = []
    for name in sorted(set(MAP.findall(story))):
        one = record[name]
        drawn = AttentionMap(np.array(one["weights"]), one["source"], one["target"])
        html = alignment_html([drawn], title=" ".join(word for word in one["source"] if word != "EOS"))
        pages.append(File.generated(config, f"story/maps/{name}.html", content=html))
    return pages


def _without_code(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)


def _in_repository(target: str, page: str) -> str:
    """The path that a link of a page means, from the root of the repository."""
    origin = _origins.get(page, f"docs/{page}")
    folder = origin if (ROOT / origin).is_dir() else str(PurePosixPath(origin).parent)
    return normpath(f"{folder}/{target}")


def _readme_of(name: str) -> str:
    return f"{name}/README.md" if (ROOT / name / "README.md").exists() else name


def _wanted(target: str, page: str) -> str | None:
    """The page or file of the site that a link points to; None for web addresses and missing files."""
    name = _in_repository(target, page)
    if ":" in target or not (ROOT / name).exists():
        return None
    if name in PAGES:
        return PAGES[name]
    if (ROOT / name).is_dir():
        return f"source/{name}/index.md"
    if name.startswith("docs/") and not name.endswith(".py"):
        return name.removeprefix("docs/")
    return f"source/{name}" if name.endswith(".md") else f"source/{name}.md"


def _shown(name: str) -> str:
    """A file or folder as a page: Markdown as it is, a folder as the list of its files, other files as code."""
    path, head = ROOT / name, "---\nsearch:\n  exclude: true\n---\n"
    if path.is_dir():
        inside = sorted(one.name for one in path.iterdir() if one.is_file() and not one.name.startswith("."))
        return f"{head}# {name}\n\n" + "\n".join(f"- [{one}]({one})" for one in inside)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return head + text
    return f"{head}# {name}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n"

"""Make a packaged bundle complete its sources to sentences like those of its corpora (`text.normalise.complete`).

    python benchmarks/boxed_complete.py src/regard/pretrained/en-fr src/regard/pretrained/fr-en

Tatoeba and Europarl are whole sentences: a model that never saw a text without a final stop invents an ending for it.
Only the tokenizer of the source is completed (see `Tokenizer.without_completion`), so this is set on the finished
bundle: a joint tokenizer of a recipe has one normaliser for both sides.
"""

import json
import sys
from pathlib import Path

from regard.bundle.manifest import FileEntry, read_manifest, write_manifest

for folder in map(Path, sys.argv[1:]):
    path = folder / "source.tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["config"]["normalise"]["complete"] = True
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    manifest = read_manifest(folder / "manifest.json")
    files = {**manifest.files, path.name: FileEntry.of(path)}
    write_manifest(folder / "manifest.json", manifest.model_copy(update={"files": files}))

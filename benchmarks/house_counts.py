"""The counts in the table of docs/decisions/0004: lines of each part of the package, and of the paths to equations.

    python benchmarks/house_counts.py

Paths are those that tests/house/test_paths.py finds on the call stack of the real commands. Lines that features added
to files which existed before are counted with `git blame` (house_features.toml lists the commits; about a minute).
"""

import ast
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "regard"
TRANSLATE = "cli/translate.py runtime/translator.py search/decode.py models/seq2seq.py models/rnn/decoder.py"
PATHS = {
    "regard translate to the attention equation": (
        *TRANSLATE.split(),
        "attention/additive/module.py",
        "attention/additive/functional.py",
    ),
    "regard train to the loss": (
        "cli/train.py",
        "training/run.py",
        "training/training_loop.py",
        "training/optimizer_step.py",
        "training/loss.py",
        "models/cross_entropy.py",
    ),
}
NEW = {
    "server, studio and trace of a decode": (
        "server",
        "cli/serve.py",
        "cli/studio.py",
        "runtime/batcher.py",
        "runtime/inside.py",
        "runtime/recorder.py",
        "runtime/traced.py",
        "lab/about_model.py",
        "plot/document.py",
        "plot/widget.py",
    ),
    "ONNX, int8 and models in the package": (
        "export",
        "pretrained",
        "bundle/cards.py",
        "bundle/find.py",
        "bundle/int8.py",
        "bundle/onnx_graph.py",
        "bundle/onnx_manifest.py",
        "cli/export.py",
        "cli/models.py",
        "runtime/onnx_folder.py",
        "runtime/onnx_model.py",
        "runtime/onnx_search.py",
        "runtime/onnx_search_graph.py",
        "runtime/spoken_words.py",
        "search/host_choices.py",
    ),
    "bulk translation and int8 products": (
        "cli/translate_folder.py",
        "lab/bulk",
        "runtime/decoding_precision.py",
        "runtime/row_worker.py",
    ),
    "every matrix of a worked step": ("lab/worked_stages.py",),
    "smaller features: Parquet batches, piped input, completion, comparisons, gru-2014, view, recipe keys": (
        "data/parquet_batches.py",
        "runtime/search_size.py",
        "cli/arriving.py",
        "cli/completion.py",
        "lab/compare/export_files.py",
        "lab/compare/significance.py",
        "lab/table_check.py",
        "models/rnn/gru_2014.py",
        "plot/view.py",
        "training/portable.py",
        "training/recipe_keys.py",
    ),
}
"""Whole files that were added after the goal of 23,500 lines was set."""


def lines(name: str) -> int:
    """The lines of a file, or of all Python files of a folder."""
    place = PACKAGE / name
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def is_old(path: str) -> bool:
    """Whether a path of the repository is a Python file outside `fast/` and `course/` that is not new."""
    name = path.removeprefix("src/regard/")
    apart = ("fast", "course", *(one for names in NEW.values() for one in names))
    return name != path and name.endswith(".py") and not any(name == one or name.startswith(f"{one}/") for one in apart)


def features_in_old_files() -> dict[str, int]:
    """For each group of house_features.toml the lines of old files that its commits wrote, as `git blame` reports."""
    groups = tomllib.loads((ROOT / "benchmarks" / "house_features.toml").read_text(encoding="utf-8"))
    group_of = {commit: group for group, commits in groups.items() for commit in commits}
    counts = dict.fromkeys(groups, 0)
    for path in filter(is_old, git("ls-files", "src/regard")):
        for line in git("blame", "-s", "-l", "-w", "-M", "-C", path):
            if (group := group_of.get(line.lstrip("^")[:8])) is not None:
                counts[group] += 1
    return counts


def git(*arguments: str) -> list[str]:
    return subprocess.check_output(["git", "-C", str(ROOT), *arguments], text=True).splitlines()


def imports(name: str) -> int:
    """The import statements of a file, those inside functions included."""
    tree = ast.parse((PACKAGE / name).read_text(encoding="utf-8"))
    return sum(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))


def main() -> None:
    for what, files in PATHS.items():
        print(f"{what}: {len(files)} files, {sum(map(lines, files)):,} lines")
    for name in ("models/rnn/decoder.py", "models/rnn/encoder.py"):
        print(f"{name}: {lines(name)} lines, {imports(name)} imports")
    apart = {what: sum(map(lines, names)) for what, names in NEW.items()}
    rest = lines(".") - lines("fast") - lines("course")
    print(f"outside fast/ and course/: {rest:,} lines; without what is new: {rest - sum(apart.values()):,}")
    features = features_in_old_files()
    print(f"    without features in the other files, too: {rest - sum((apart | features).values()):,}")
    for what, count in {
        **apart,
        **{f"features in old files: {name}": n for name, n in features.items()},
        "fast/": lines("fast"),
        "course/": lines("course"),
    }.items():
        print(f"    {what}: {count:,}")


if __name__ == "__main__":
    main()

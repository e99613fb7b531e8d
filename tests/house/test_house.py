"""The rules of the house, as tests: sizes, first lines, the file map, the public names, what an import costs."""

import ast
import configparser
import inspect
import io
import re
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import regard

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "regard"
FILES = sorted(PACKAGE.rglob("*.py"))


def test_public_surface() -> None:
    names = ["Translation", "Translator", "__version__", "attention", "load", "testing", "train", "view"]
    assert regard.__all__ == names
    for name in regard.__all__:
        assert getattr(regard, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'translat'") as caught:
        regard.translat  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("translat", regard), "so Python knows what was meant"
    assert list(inspect.signature(regard.train).parameters)[:2] == ["recipe", "out"]
    assert list(inspect.signature(regard.view).parameters)[:3] == ["weights", "source", "target"]


def test_train_is_a_function_whatever_was_imported_before() -> None:
    code = """
import regard
first = regard.train
import regard.training.run as run
from regard import train
assert callable(first) and callable(regard.train) and callable(train)
try:
    regard.train("no-such-recipe")
except ValueError as error:
    print(error, run.__name__)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "no recipe 'no-such-recipe'" in result.stdout
    assert result.stdout.strip().endswith("regard.training.run")


LONG_FILES = {"fast/graphs/replay.py": "capture, replay and memory of CUDA graphs share one lock and one cache"}
MANY_PARAMETERS = {
    "attention/build.py: build_attention": "one keyword for each recipe key that chooses an attention",
    "evaluation/evaluate_texts.py: evaluate": "one keyword for each metric and its setting",
    "plot/attention_map.py: __init__": "what a translation knows about its two sides",
    "search/decode.py: beam_search": "the settings of a beam search",
    "fast/recurrent/bahdanau_cpu.py: attend_and_recur": "the tensors of one fused operation",
    "fast/recurrent/bahdanau_cpu.py: forward": "the tensors of one fused operation",
    "fast/recurrent/bahdanau_launch.py: forward": "the tensors of one fused operation",
    "fast/recurrent/fused_functions.py: attend_and_recur_kernels": "the tensors of one fused operation",
    "fast/recurrent/step_loop.py: run_steps": "what the three loops of the decoder share",
}
"""Exceptions to the rules of size, each with its reason; Typer commands, kernels and custom operations need none."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_has_a_docstring_and_stays_small(path: Path) -> None:
    text, name = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).as_posix()
    tree = ast.parse(text)
    assert ast.get_docstring(tree), f"{name} does not say what it is for"
    assert len(text.splitlines()) <= 300 or name in LONG_FILES, f"{name}: one reason to change?"
    for where, lines, parameters in _functions(tree, name):
        command = where == f"{name}: {path.stem}" and name.startswith("cli/")  # its options are its parameters
        assert lines <= (75 if command else 60), f"{where} has {lines} lines"
        assert parameters <= 8 or command or where in MANY_PARAMETERS, f"{where} has {parameters} parameters"


def _functions(tree: ast.AST, name: str) -> Iterator[tuple[str, int, int]]:
    """Each function of a file with its numbers of lines and parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if "triton.jit" in decorators or "custom_op" in decorators or "register_fake" in decorators:
                continue
            assert node.end_lineno is not None
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            parameters = len(given) - (bool(given) and given[0].arg in ("self", "cls"))
            yield f"{name}: {node.name}", node.end_lineno - node.lineno + 1, parameters


def test_async_functions_are_measured() -> None:
    assert list(_functions(ast.parse("async def f(self, a, *, b):\n    pass"), "x.py")) == [("x.py: f", 2, 2)]


def test_exceptions_to_the_rules_of_size_are_needed() -> None:
    assert all(len((PACKAGE / name).read_text(encoding="utf-8").splitlines()) > 300 for name in LONG_FILES)
    for where in MANY_PARAMETERS:
        name = where.partition(": ")[0]
        counts = [count for other, _, count in _functions(_tree(PACKAGE / name), name) if other == where]
        assert max(counts, default=0) > 8, f"{where} needs no exception: {counts} parameters"


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


FILE_SETS = {
    "attention/*/{reference,functional,module}.py": "each mechanism has the same three files",
    "models/*/{encoder,decoder}.py": "each architecture has the same two files",
    "course/exercises/*/{alternatives,check,mistakes,solution}.py": "each exercise has the same files",
}
"""Module names that occur more than once: the same files in each of several sibling folders, with the reason."""


def test_no_module_name_occurs_twice() -> None:
    """A stack trace, a search result and an editor tab show a file's name alone."""
    allowed = [_globs(pattern) for pattern in FILE_SETS]
    names: dict[str, list[str]] = {}
    for path in FILES:
        name = path.relative_to(PACKAGE)
        if path.stem != "__init__" and not any(name.match(glob) for globs in allowed for glob in globs):
            names.setdefault(path.stem, []).append(name.as_posix())
    assert not {stem: found for stem, found in names.items() if len(found) > 1}
    for globs in allowed:
        assert all(len(list(PACKAGE.glob(glob))) > 1 for glob in globs), f"{globs}: no longer needed"


def _globs(pattern: str) -> list[str]:
    before, _, rest = pattern.partition("{")
    options, _, after = rest.partition("}")
    return [before + option + after for option in options.split(",")]


def test_no_module_is_called_utils_or_helpers() -> None:
    assert not [path for path in FILES if path.stem in ("utils", "helpers", "common", "misc")]


def test_importing_regard_loads_nothing_heavy() -> None:
    heavy = ["torch", "matplotlib", "sacrebleu", "triton", "starlette", "tokenizers"]
    code = f"import regard, sys; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_loading_the_translator_imports_nothing_heavy() -> None:
    heavy = ["matplotlib", "sacrebleu", "triton", "starlette", "torch.distributed.run"]
    code = f"import regard, sys; regard.load; regard.train; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_readme_map_is_true() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    mapped = set(re.findall(r"^  (\w+)/ ", readme, flags=re.MULTILINE))
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert mapped == folders
    files = {path.name for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    assert set(re.findall(r"^  (\w+\.py) ", readme, flags=re.MULTILINE)) == files


def test_every_folder_and_file_has_an_import_rule_that_forbids_what_its_name_says() -> None:
    """`make check` runs the contracts; a new folder without one, or a rule that lacks it, is found here."""
    rules = configparser.ConfigParser()
    rules.read(ROOT / ".importlinter", encoding="utf-8")
    contracts = [rules[name] for name in rules.sections() if ":contract:" in name]
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")} - {"recipes", "pretrained"}
    single = {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    named: set[str] = set()
    for contract in contracts:
        sources, forbidden = (_modules(contract[key]) for key in ("source_modules", "forbidden_modules"))
        named |= sources
        _, _, allowed = contract["name"].partition(" may import ")
        listed = set(re.findall(r"\w+", allowed)) & folders
        free = folders - listed if "everything but" in allowed else listed
        assert forbidden == folders - sources - free, contract["name"]
    assert named == folders | single


def _modules(value: str) -> set[str]:
    return {name.removeprefix("regard.") for name in value.split()}


def test_the_project_speaks_of_itself_alone() -> None:
    if shutil.which("git") is None:
        pytest.skip("needs git, which knows which files are ours")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: nothing says which files are ours")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".txt", ".html") and path.is_file():
            text = path.read_text(encoding="utf-8")
            found = re.search(r"(?<![\w.])/(work|root|home)/\w+", text)
            assert not found, f"{name} names a path of somebody's machine: {found.group() if found else ''}"
            assert not re.search("^(<{7}|>{7}) ", text, re.MULTILINE), f"{name} has the marks of a merge conflict"


def test_only_training_world_imports_torch_distributed() -> None:
    names = re.compile(r"torch\.distributed|import distributed|from torch import .*distributed|DistributedDataParallel")
    knowing = [str(path.relative_to(PACKAGE)) for path in FILES if names.search(path.read_text(encoding="utf-8"))]
    assert knowing == ["training/world.py"]


PRIVATE_NAMES = {
    "cli/escape.py: _replace": "public method of named tuples",
    "course/*: _exit": "public function of os",
    "course/*: _fields": "public attribute of named tuples",
    "data/splits.py: _fingerprint": "the cache key of a dataset from the library datasets, which has no public one",
    "evaluation/scores.py: _compute_score_from_stats": "sacrebleu has no public function for the score of a sample",
    "evaluation/scores.py: _extract_corpus_statistics": "sacrebleu has no public function for a sentence's statistics",
    "fast/recurrent/encoder_padded.py: _replace": "public method of named tuples",
}
"""FILE: NAME of each private name of another package than torch, with the reason why it is used."""


def _private_names(tree: ast.AST, ours: Collection[str] = ()) -> Iterator[str]:
    """The names with one leading underscore that a file takes from another package; `ours` are not reported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names = [] if _own(node) or node.attr in ours else [node.attr]
        elif isinstance(node, ast.Import):
            names = [part for one in node.names for part in one.name.split(".")]
        elif isinstance(node, ast.ImportFrom):
            inside = (node.module or "").partition(".")[0] == "regard"
            names = [] if inside else [*(node.module or "").split("."), *(one.name for one in node.names)]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr", "delattr"):
            names = [part.value for part in node.args[1:2] if isinstance(part, ast.Constant)]
            names = [name for name in names if name not in ours]
        else:
            continue
        yield from (name for name in names if re.match("_[^_]", name))


def _defined_names(tree: ast.AST) -> Iterator[str]:
    """Functions, classes, variables and the attributes that classes set on themselves."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _own(node):
            yield node.attr


def _own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("forward_ad._current_level >= 0", ["_current_level"]),
        ("function._dynamo_marked_constant = True", ["_dynamo_marked_constant"]),
        ("module._forward_hooks or module._backward_pre_hooks", ["_backward_pre_hooks", "_forward_hooks"]),
        ("torch_module._global_backward_hooks", ["_global_backward_hooks"]),
        ("torch._C._functorch.is_batchedtensor(x)", ["_C", "_functorch"]),
        ("torch.ops.mkldnn._linear_pointwise(x)", ["_linear_pointwise"]),
        ("import torch._dynamo", ["_dynamo"]),
        ("import torch.nn, torch._inductor.config as config", ["_inductor"]),
        ("from torch._C import _functorch", ["_C", "_functorch"]),
        ("from torch import _dynamo", ["_dynamo"]),
        ("getattr(torch, '_int_mm')(x, y)", ["_int_mm"]),
        ("hasattr(torch.cpu, '_is_vnni_supported')", ["_is_vnni_supported"]),
        ("super()._apply(f)", ["_apply"]),
        ("self._x + cls._y + one._ours + getattr(one, '_ours') + x.__dict__ + x._", []),
        ("from regard.search.strategy import _x\nfrom ._y import z", ["_y"]),
    ],
)
def test_private_names_are_found(code: str, found: list[str]) -> None:
    assert sorted(_private_names(ast.parse(code), {"_ours"})) == found


def test_private_torch_apis_are_used_in_one_file_only() -> None:
    """A new version of torch may change them; `torch_private.py` says which versions each was checked on."""
    trees = {path.relative_to(PACKAGE).as_posix(): _tree(path) for path in FILES}
    torchs = set(_private_names(trees.pop("torch_private.py")))
    ours = {name for tree in trees.values() for name in _defined_names(tree)} - torchs
    found = {f"{name}: {private}" for name, tree in trees.items() for private in _private_names(tree, ours)}
    assert not [one for one in sorted(found) if not any(fnmatchcase(one, allowed) for allowed in PRIVATE_NAMES)]
    unneeded = [allowed for allowed in PRIVATE_NAMES if not any(fnmatchcase(one, allowed) for one in found)]
    assert not unneeded, "no longer needed"


def test_no_test_is_named_by_the_number_of_a_list() -> None:
    """A name states the behaviour; the list may be gone."""
    numbered = re.compile(r"def (test_item_\d\w*)")
    found = [name for path in (ROOT / "tests").rglob("*.py") for name in numbered.findall(path.read_text("utf-8"))]
    assert not found


def test_prose_is_not_wider_than_code() -> None:
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    wide = [
        f"{page.relative_to(ROOT)}, line {number}"
        for page in [*pages, *sorted((ROOT / "docs").rglob("*.md"))]
        for number, line in _prose(page)
        if len(line) > 120
    ]
    assert not wide


def _prose(page: Path) -> list[tuple[int, str]]:
    """Lines that can be broken: no code, no table, not the links at the foot of a page of the story."""
    code, found = False, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        code ^= line.lstrip().startswith("```")
        if not code and not line.startswith(("|", "    ", "[←", "#", "![")):
            found.append((number, line))
    return found


def test_one_file_starts_the_programs_that_tests_send_signals_to() -> None:
    """A child that is started in another way ignores Ctrl-C if the test runner does, and may outlive its test."""
    tests = ROOT / "tests"
    starting = [path for path in sorted(tests.rglob("*.py")) if "Popen(" in _without_strings(path)]
    assert [str(path.relative_to(tests)) for path in starting] == ["processes.py"]


def _without_strings(path: Path) -> str:
    """The code of a file; what learners' files in a test's strings do is not its own doing."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return "".join(token.string for token in tokens if token.type in (tokenize.NAME, tokenize.OP))


def test_code_is_executed_only_in_listed_places() -> None:
    """A new entry needs a comment: why files of other people do not reach it."""
    allowed = {
        ("attention/build.py", "import_module"),  # behind `trust`
        ("cli/main.py", "exec"),  # an empty string
        ("course/attempt.py", "exec"),  # a learner's file is a program
        ("course/attempt.py", "import_module"),  # a name that a check of ours, or a teacher's, writes down
        ("course/learner_process.py", "exec"),  # the learner's own functions, with one small change, in that process
        ("course/learner_process.py", "import_module"),  # what the grader names: inputs go there, never back
        ("course/wire.py", "import_module"),  # the same; refused in the grader (`objects` is False)
        ("course/slips.py", "exec"),  # our own solutions, edited by slips.toml
        ("lab/bytecode.py", "marshal.loads"),  # compiled files of the environment: loaded, never run
        ("data/worker_pool.py", "pickle.load"),  # from a process of our own
        ("text/worker.py", "pickle.load"),
    }
    imports = re.compile(r"(import_module|__import__)\((?!f?['\"]|_HOMES\[|package\)$)")  # but what our own code names
    loads = re.compile(r"(eval|exec|(pickle|torch|np|numpy|marshal)\.loads?|runpy\.\w+)\(")
    found = set()
    for path in FILES:
        calls = [node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call)]
        for call in calls:
            if imports.match(ast.unparse(call)) or loads.match(ast.unparse(call)):
                found.add((str(path.relative_to(PACKAGE)), ast.unparse(call.func)))
    assert found == allowed

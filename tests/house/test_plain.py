"""Outside `fast/` and the registry the code is plain: it does not choose between implementations, and masks once."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import regard

PACKAGE = Path(str(regard.__file__)).parent
FILES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "registry.py" and not path.is_relative_to(PACKAGE / "fast")
]
PREDICATES = {
    "has_hooks", "has_int8_product", "is_available", "is_compiling", "is_cpu", "is_cuda", "is_dynamo_compiling",
    "is_grad_enabled", "is_inference_mode_enabled", "observed", "plain_requested", "requires_grad", "transform_active",
}  # fmt: skip
"""What the condition of an accelerated version is made of, besides `device.type`."""
EXCEPTIONS = {
    "cli/bench.py: is_available": "--gpu is refused where there is none",
    "course/wire.py: *": "a learner's tensor arrives in the grader as it was: with gradients or without",
    "lab/*: device.type": "measures a device, or describes it",
    "lab/*: is_available": "measures a device, or describes it",
    "lab/fast_report.py: plain_requested": "reports it",
    "runtime/aligner.py: device.type": "a GPU aligns larger batches",
    "runtime/decoding_precision.py: *": "int8 is refused where it does not work",
    "runtime/onnx_folder.py: device.type": "ONNX graphs compute on a CPU; another device is refused",
    "runtime/posterior.py: device.type": "TF32 products on a GPU",
    "runtime/source_text.py: device.type": "batches on a GPU have few lengths, so few graphs are captured",
    "runtime/translator.py: device.type": "batches on a GPU are larger",
    "testing/laws.py: requires_grad": "the parameters that are trained",
    "training/checkpoint.py: device.type": "a GPU has a random state and a name",
    "training/device.py: *": "chooses the device and the precision of a training",
    "training/dry_run.py: *": "reports the memory of a GPU, the threads of a CPU and the trained parameters",
    "training/optimizer.py: device.type": "torch has a fused Adam for two kinds of device",
    "training/optimizer_step.py: device.type": "autocast's argument; a full GPU is freed before the next attempt",
    "training/world.py: is_cuda": "workers on GPUs communicate by NCCL",
}
"""FILE: PREDICATE, each with the reason why it chooses no implementation of an operation."""


def predicates(tree: ast.AST) -> Iterator[str]:
    """The names in a file that PREDICATES lists, and `device.type` of any device."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in PREDICATES:
                yield name
            elif re.search(r"\bdevice(\(.*\))?\.type$", ast.unparse(node)):
                yield "device.type"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x.is_cuda and not torch.compiler.is_compiling()", ["is_compiling", "is_cuda"]),
        ("2 if torch.is_grad_enabled() else 3", ["is_grad_enabled"]),
        ("f(self.model.device.type, torch.device('cuda').type, x[0].device.type)", ["device.type"] * 3),
        ("x.requires_grad = True; device = 3", []),
    ],
)
def test_conditions_are_found(code: str, found: list[str]) -> None:
    assert sorted(predicates(ast.parse(code))) == found


def test_only_fast_and_the_registry_choose_an_implementation() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {name}"
        for path in FILES
        for name in predicates(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not [one for one in sorted(found) if not any(fnmatchcase(one, allowed) for allowed in EXCEPTIONS)]
    unneeded = [allowed for allowed in EXCEPTIONS if not any(fnmatchcase(one, allowed) for one in found)]
    assert not unneeded, "no longer needed"


def test_the_core_does_not_mention_devices() -> None:
    files = [path for path in FILES if path.relative_to(PACKAGE).parts[0] in ("attention", "models", "search")]
    assert len(files) > 40
    asking = re.compile(r"REGARD_PLAIN|triton|cuda\.")
    assert not [str(path) for path in files if asking.search(path.read_text(encoding="utf-8"))]


SOFTMAX = {
    "attention/masking.py": 1,
    "lab/bench/textbook.py": 1,  # the baseline of the benchmarks shares no code with what is measured
    "search/sample.py": 2,  # over the vocabulary
}
LOG_SOFTMAX = {  # over the vocabulary
    "models/rnn/word_posterior.py": 2,
    "search/scoring.py": 1,
    "training/loss.py": 1,
}
"""How often a file calls a softmax; the exercises, whose solutions use torch alone, are not counted."""


def calls(tree: ast.AST, names: Collection[str]) -> Iterator[str]:
    """The calls of these functions, by any module, as methods or after an import by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node.func, ast.Attribute | ast.Name) else ""
            if name in names:
                yield name
        elif isinstance(node, ast.ImportFrom):  # a renamed function would not be found
            yield from (one.name for one in node.names if one.name in names and one.asname is not None)


SOFTMAXES = {"Softmax", "Softmax2d", "_softmax", "scaled_dot_product_attention", "softmax"}
LOG_SOFTMAXES = {"LogSoftmax", "_log_softmax", "log_softmax"}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("scores.softmax(-1)", ["softmax"]),
        ("torch.softmax(scores, -1) @ torch.nn.functional.softmax(scores, -1)", ["softmax", "softmax"]),
        ("from torch import softmax\nsoftmax(scores, -1)", ["softmax"]),
        ("from torch import softmax as normalise\nnormalise(scores, -1)", ["softmax"]),
        ("nn.Softmax(-1)(scores), Softmax(-1)", ["Softmax", "Softmax"]),
        ("scaled_dot_product_attention(q, k, v)", ["scaled_dot_product_attention"]),
        ("(scores + (1 - mask) * -1e9).softmax(-1)", ["softmax"]),
        ("masked_softmax(scores, mask) + softmax_row(x) + log_softmax(x)", []),
    ],
)
def test_softmax_calls_are_found(code: str, found: list[str]) -> None:
    assert sorted(calls(ast.parse(code), SOFTMAXES)) == found


@pytest.mark.parametrize(("names", "expected"), [(SOFTMAXES, SOFTMAX), (LOG_SOFTMAXES, LOG_SOFTMAX)])
def test_there_is_one_masked_softmax(names: set[str], expected: dict[str, int]) -> None:
    """Every mechanism calls `masked_softmax`, which gives zeros, never NaN, where nothing is real."""
    found = Counter(
        path.relative_to(PACKAGE).as_posix()
        for path in FILES
        if not path.is_relative_to(PACKAGE / "course" / "exercises")
        for _ in calls(ast.parse(path.read_text(encoding="utf-8")), names)
    )
    assert found == expected

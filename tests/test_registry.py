"""The registry chooses the first entry whose conditions hold, and the plain body otherwise."""

import os
import subprocess
import sys

import pytest
import torch
from torch import nn

from candidates import candidates
from regard.registry import recorded, replaceable, replaces, without


@replaceable
def double(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Twice what the layer gives."""
    result: torch.Tensor = 2 * layer(x)
    return result


@replaces(double, unless=lambda layer, x: None if x.numel() < 4 else "too large", bypasses=lambda layer, x: [layer])
def double_small(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return 2 * torch.nn.functional.linear(x, layer.weight)


@replaces(double, unless=lambda layer, x: None if x.dtype == torch.float64 else "not float64", compiles=True)
def double_exact(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = layer(x) + layer(x)
    return result


@pytest.fixture
def layer() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(3, 3, bias=False)


def chosen(layer: nn.Module, x: torch.Tensor) -> list[str]:
    with recorded() as names:
        torch.testing.assert_close(double(layer, x), 2 * layer(x))
    return names


def test_first_entry_that_fits_runs(layer: nn.Linear) -> None:
    assert chosen(layer, torch.ones(3)) == ["double_small"]
    assert chosen(layer, torch.ones(2, 3)) == []
    assert chosen(layer.double(), torch.ones(2, 3, dtype=torch.float64)) == ["double_exact"]


def test_plain_environment_variable_refuses_every_entry(layer: nn.Linear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_PLAIN", "1")
    assert chosen(layer, torch.ones(3)) == []


def test_hooks_and_patched_forwards_are_not_bypassed(layer: nn.Linear) -> None:
    seen = []
    handle = layer.register_forward_hook(lambda *_: seen.append(1))
    assert chosen(layer, torch.ones(3)) == []
    assert seen
    handle.remove()
    assert chosen(layer, torch.ones(3)) == ["double_small"]
    everywhere = nn.modules.module.register_module_forward_hook(lambda *_: None)
    assert chosen(layer, torch.ones(3)) == []
    everywhere.remove()
    layer.forward = lambda x: 7 * x  # type: ignore[method-assign]
    torch.testing.assert_close(double(layer, torch.ones(3)), torch.full((3,), 14.0))


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # raised by torch about itself
def test_transforms_see_every_operation(layer: nn.Linear) -> None:
    with recorded() as names:
        torch.func.grad(lambda x: double(layer, x).sum())(torch.ones(3))
        torch.func.jvp(lambda x: double(layer, x), (torch.ones(3),), (torch.ones(3),))
    assert names == []


def test_an_entry_can_be_switched_off(layer: nn.Linear) -> None:
    with without("double_small"):
        assert chosen(layer, torch.ones(3)) == []
    assert chosen(layer, torch.ones(3)) == ["double_small"]
    with pytest.raises(ValueError, match="no accelerated implementation is called nothing"), without("nothing"):
        pass


def test_explained_gives_the_reasons(layer: nn.Linear) -> None:
    reasons = {choice.entry: choice.refusal for choice in candidates(double, layer, torch.ones(2, 3))}
    assert reasons == {"double_small": "too large", "double_exact": "not float64"}


def test_inside_compile_only_entries_that_allow_it(layer: nn.Linear) -> None:
    compiled = torch.compile(double, backend="eager", fullgraph=True)
    with recorded() as names:
        compiled(layer, torch.ones(3))
        compiled(layer.double(), torch.ones(3, dtype=torch.float64))
    assert "double_small" not in names


def run(code: str, **environment: str) -> str:
    given = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ATTEND = """
import sys, torch
from regard.attention import BahdanauAttention
attention = BahdanauAttention(query_width=4, state_width=3, width=5)
memory = attention.prepare(torch.randn(2, 6, 3), torch.ones(2, 6, dtype=torch.bool))
"""


def test_a_program_that_imports_only_attention_is_accelerated() -> None:
    code = f"{ATTEND}\nassert 'regard.fast' not in sys.modules\nattention(torch.randn(2, 1, 4), memory)\n"
    assert run(code + "print('regard.fast' in sys.modules)") == "True"


def test_plain_never_imports_fast() -> None:
    code = f"{ATTEND}\nattention(torch.randn(2, 1, 4), memory)\n"
    assert (
        run(code + "print([name for name in sys.modules if name.startswith('regard.fast')])", REGARD_PLAIN="1") == "[]"
    )


def test_first_call_inside_compile() -> None:
    code = f"""{ATTEND}
compiled = torch.compile(lambda query: attention(query, memory).context, backend="eager", fullgraph=True)
query = torch.randn(2, 1, 4)
torch.testing.assert_close(compiled(query), attention(query, memory).context)
print("regard.fast" in sys.modules)
"""
    assert run(code) == "True"


def test_references_import_no_torch() -> None:
    code = """
import sys, importlib, pathlib, regard
folder = pathlib.Path(regard.__file__).parent / "attention"
names = [path.parent.name for path in folder.glob("*/reference.py")]
for name in names:
    importlib.import_module(f"regard.attention.{name}.reference")
print(len(names) >= 5, "torch" in sys.modules)
"""
    assert run(code) == "True False"


def test_threads_that_dispatch_first_together_agree() -> None:
    code = """
import threading, torch
from regard import registry
from regard.attention.additive.functional import additive_scores
results, start = [], threading.Barrier(8)
def work():
    start.wait()
    additive_scores(torch.ones(1, 2), torch.ones(3, 2), torch.ones(2))
    results.append(bool(registry.operation_of(additive_scores).entries))
threads = [threading.Thread(target=work) for _ in range(8)]
[one.start() for one in threads]; [one.join() for one in threads]
print(results)
"""
    assert run(code) == str([True] * 8)

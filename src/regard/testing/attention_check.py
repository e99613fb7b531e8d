"""`check_attention`: tries every law of attention on a user's module and reports one finding for each."""

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast

import torch
from torch import nn

from regard.attention.protocol import Attention
from regard.attention.window import GlobalWindow
from regard.testing.laws import LAWS, Law
from regard.testing.subject import Skip, Subject

Verdict = Literal["held", "BROKEN", "skipped"]


@dataclass(frozen=True)
class LawFinding:
    """One law tried on one module: the largest deviation seen, what the law means, and why it broke or was skipped."""

    law: str
    meaning: str
    verdict: Verdict
    deviation: float | None = None
    note: str = ""


@dataclass(frozen=True)
class LawReport:
    """All findings about one module; `print(report)` gives a readable report."""

    subject: str
    findings: tuple[LawFinding, ...]

    @property
    def ok(self) -> bool:
        """No law is broken; skipped ones do not count."""
        return not self.broken

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of the broken laws."""
        return tuple(finding.law for finding in self.findings if finding.verdict == "BROKEN")

    def raise_if_broken(self) -> None:
        """For use in a test: an AssertionError that carries the whole report."""
        if not self.ok:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        verdicts = [finding.verdict for finding in self.findings]
        counts = ", ".join(
            f"{verdicts.count(kind)} {kind}" for kind in ("held", "BROKEN", "skipped") if kind in verdicts
        )
        width = max((len(finding.law) for finding in self.findings), default=0)
        lines = [f"{self.subject}: {counts or 'nothing tried'}"]
        for finding in self.findings:
            deviation = "" if finding.deviation is None else f"{finding.deviation:.1e}"
            lines.append(f"  {finding.verdict:<7}  {finding.law:<{width}}  {deviation:>7}  {finding.meaning}")
            if finding.note:
                lines.append(f"  {'':<7}  {'':<{width}}  {'':>7}  → {finding.note}")
        return "\n".join(lines)


def check_attention(
    module: Attention | nn.Module,
    *,
    state_width: int | None = None,
    ordered: bool | None = None,
    normalised: bool | None = None,
    dtype: torch.dtype = torch.float64,
    device: str | torch.device = "cpu",
    tolerance: float | None = None,
    seed: int = 0,
) -> LawReport:
    """Try the laws of attention on a copy of `module` and report which of them hold.

    `state_width` is read from the module (`state_width`, else `value_width`) if it is not given. `ordered=True` means
    that positions are not exchangeable, `normalised=False` that rows may sum to less than 1; both are detected from
    the module's window and trace if it has them. The module itself and the global random state do not change.

    >>> from regard.attention import BahdanauAttention
    >>> check_attention(BahdanauAttention(query_width=4, state_width=3, width=5)).ok
    True
    """
    subject_name = type(module).__name__
    missing = [name for name in ("query_width", "value_width", "prepare", "__call__") if not hasattr(module, name)]
    if missing:
        protocol = "the module has query_width, value_width, prepare(states, real) and a call"
        return LawReport(
            subject_name, (LawFinding("protocol", protocol, "BROKEN", note=f"missing: {', '.join(missing)}"),)
        )
    if isinstance(module, nn.Module):
        module = deepcopy(module).to(device=device, dtype=dtype).eval()
    attention = cast(Attention, module)
    window = getattr(attention, "window", None)
    subject = Subject(
        module=attention,
        state_width=getattr(attention, "state_width", attention.value_width) if state_width is None else state_width,
        ordered=window is not None and not isinstance(window, GlobalWindow) if ordered is None else ordered,
        normalised=normalised,
        dtype=dtype,
        device=torch.device(device),
        tolerance=(1e-9 if dtype == torch.float64 else 1e-4) if tolerance is None else tolerance,
        seed=seed,
    )
    return LawReport(subject_name, tuple(_try(law, subject) for law in LAWS))


def _try(law: Law, subject: Subject) -> LawFinding:
    finding = partial(LawFinding, law.__name__, law.__doc__ or "")
    try:
        deviation = law(subject)
    except Skip as reason:
        return finding("skipped", note=str(reason))
    except Exception as error:  # whatever a user's module raises is a finding
        note = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no message'}"
        return finding("BROKEN", note=note)
    if deviation is None or deviation <= subject.tolerance:
        return finding("held", deviation)
    note = f"the largest allowed deviation is {subject.tolerance:.0e}"
    return finding("BROKEN", deviation, note)

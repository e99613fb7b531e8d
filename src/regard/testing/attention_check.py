"""`check_attention`: tries every law of attention on a user's module."""

from copy import deepcopy
from typing import cast

import torch
from torch import nn

from regard.attention.protocol import Attention
from regard.attention.window import GlobalWindow
from regard.testing.law_report import LawFinding, LawReport
from regard.testing.laws import LAWS, Law
from regard.testing.subject import Skip, Subject


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
    try:
        deviation = law.trial(subject)
    except Skip as reason:
        return LawFinding(law.name, law.meaning, "skipped", note=str(reason))
    except Exception as error:  # whatever a user's module raises is a finding
        note = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no message'}"
        return LawFinding(law.name, law.meaning, "BROKEN", note=note)
    if deviation is None or deviation <= subject.tolerance:
        return LawFinding(law.name, law.meaning, "held", deviation)
    note = f"the largest allowed deviation is {subject.tolerance:.0e}"
    return LawFinding(law.name, law.meaning, "BROKEN", deviation, note)

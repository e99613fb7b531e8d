"""The result of a check: one finding for each law, and the printed report."""

from dataclasses import dataclass
from typing import Literal

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

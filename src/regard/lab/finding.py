"""One line of the doctor's report, with what it rests on and what to do about it."""

from dataclasses import dataclass
from typing import Literal

Mark = Literal["✓", "·", "!", "✗"]


@dataclass(frozen=True)
class Finding:
    """Fine ✓, good to know ·, odd !, or wrong ✗."""

    mark: Mark
    text: str
    examples: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def bad(self) -> bool:
        return self.mark == "✗"

    def lines(self) -> list[str]:
        """As it is printed: the finding, its examples, what to do."""
        below = [*self.examples, *([f"→ {self.remedy}"] if self.remedy else [])]
        found = [f"{self.mark} {self.text}", *(f"    {line}" for line in below)]
        return [line.replace("\n", " ") for line in found]

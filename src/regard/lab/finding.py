"""One finding of `regard doctor`, with examples and a remedy."""

from dataclasses import dataclass
from typing import Literal

Mark = Literal["✓", "·", "!", "✗"]


@dataclass(frozen=True)
class Finding:
    """Mark: fine ✓, note ·, warning !, error ✗."""

    mark: Mark
    text: str
    examples: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def bad(self) -> bool:
        return self.mark == "✗"

    def lines(self) -> list[str]:
        """The printed lines: the finding, its examples, the remedy."""
        below = [*self.examples, *([f"→ {self.remedy}"] if self.remedy else [])]
        found = [f"{self.mark} {self.text}", *(f"    {line}" for line in below)]
        return [line.replace("\n", " ") for line in found]

"""What a page on a term is made of."""

from __future__ import annotations

from dataclasses import dataclass

REQUIREMENTS = "Requirements"
"""The kind of term that stands below `privacy:`."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A term: what it is, in a line and at length, with an example in YAML."""

    kind: str
    short: str
    long: str = ""
    example: str = ""

    def text(self, name: str) -> str:
        """Return the page as Markdown."""
        parts = [f"# {name}", self.short[:1].upper() + self.short[1:] + ".", self.long]
        if self.example:
            parts.append(f"```yaml\n{self.example}\n```")
        return "\n\n".join(part for part in parts if part)

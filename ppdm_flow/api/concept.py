"""What a page on a term is made of."""

from __future__ import annotations

from dataclasses import dataclass

REQUIREMENTS = "Requirements"
"""The kind of term that stands below `privacy:`."""
ROLES = "Roles"
"""The kind of term that says what an attribute is."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A term: what it is, in a line and at length, with an example in YAML.

    ``why`` it matters, its ``formula`` and ``reference``, a ``bad`` example (YAML with a comment that says what is
    wrong) and how to ``fix`` what does not hold: roles and requirements have them all, other terms what makes sense.
    """

    kind: str
    short: str
    long: str = ""
    example: str = ""
    why: str = ""
    formula: str = ""
    reference: str = ""
    bad: str = ""
    fix: str = ""

    def text(self, name: str) -> str:
        """Return the page as Markdown."""
        parts = [f"# {name}", self.short[:1].upper() + self.short[1:] + ".", self.long]
        sections = {"Why it matters": self.why, "Formula": self.formula, "Reference": self.reference}
        parts += [f"## {title}\n\n{words}" for title, words in sections.items() if words]
        if self.example:
            parts.append(f"## Example\n\n{_yaml(self.example)}" if self.bad else _yaml(self.example))
        if self.bad:
            parts.append(f"## Not so\n\n{_yaml(self.bad)}")
        if self.fix:
            parts.append(f"## What to do\n\n{self.fix}")
        return "\n\n".join(part for part in parts if part)


def _yaml(text: str) -> str:
    return f"```yaml\n{text}\n```"

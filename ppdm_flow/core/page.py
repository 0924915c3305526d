"""A page of the reference on a diagnostic code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodePage:
    """What a diagnostic code means, why it matters, what to do, and short examples.

    ``bad`` raises the code and ``good`` does not. Each is a part of a policy in YAML, from the top; or what was typed
    at a shell, and printed, if a line begins with ``$ ``.
    """

    code: str
    title: str
    what: str
    why: str
    fix: str
    bad: str = ""
    good: str = ""


def language(example: str) -> str:
    """Return what Markdown calls the language of an example: ``yaml`` or ``console``."""
    return "console" if any(line.startswith("$ ") for line in example.splitlines()) else "yaml"


def fenced(example: str) -> str:
    """Return an example as a block of Markdown, with its language."""
    return f"```{language(example)}\n{example.strip()}\n```"

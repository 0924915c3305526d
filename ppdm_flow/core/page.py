"""A page of the reference."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodePage:
    """What a diagnostic code means. ``bad`` and ``good`` are short YAML (or shell) examples; may be empty."""

    code: str
    title: str
    what: str
    why: str
    fix: str
    bad: str = ""
    good: str = ""

"""How a table is written, as far as its owner says it: the controls of three forms, and options of `profile`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

GUESS = "guess"
HEADERS: Mapping[str, tuple[str, ...]] = {GUESS: (), "yes": ("--header",), "no": ("--no-header",)}
WRITTEN: Mapping[str, tuple[str, ...]] = {
    "delimiter": (",", ";", "tab", "|", "space"),
    "encoding": ("utf-8", "cp1252", "latin-1", "utf-16"),
    "escape": ("none", "backslash"),
}
"""How a text file may be written, as options of `profile`; what is not said is found out."""
_MARKS, _MARK = 20, 40
"""Marks of missing values that are taken, and the characters of one."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """What a form says of a table; ``guess`` and no ``missing`` leave it to be found out."""

    header: str = GUESS
    delimiter: str = GUESS
    encoding: str = GUESS
    escape: str = GUESS
    missing: str = ""

    @classmethod
    def of(cls, field: Callable[[str], str]) -> TableLayout:
        """Return the layout from the fields of a form or an address; a value that is no choice is ignored."""
        said = {name: field(name) if field(name) in choices else GUESS for name, choices in WRITTEN.items()}
        marks = (mark.strip() for mark in field("missing").split(","))
        taken = [mark for mark in marks if mark and mark.isprintable() and len(mark) <= _MARK][:_MARKS]
        return cls(field("header") if field("header") in HEADERS else GUESS, **said, missing=", ".join(taken))

    @property
    def is_said(self) -> bool:
        """Whether anything is said."""
        return self != TableLayout()

    @property
    def words(self) -> list[str]:
        """The options of `profile`."""
        words = [*HEADERS[self.header]]
        words += [f"--{name}={text}" for name in WRITTEN if (text := getattr(self, name)) != GUESS]
        return [*words, f"--missing={self.missing}"] if self.missing else words

    @property
    def options(self) -> dict[str, Any]:
        """The fields of ``TextOptions``."""
        said = {name: getattr(self, name) for name in WRITTEN if getattr(self, name) != GUESS}
        said |= {} if self.header == GUESS else {"header": self.header == "yes"}
        return said | ({"missing": tuple(self.missing.split(", "))} if self.missing else {})

    @property
    def query(self) -> dict[str, str]:
        """What is said, for an address; marks of missing values, which may be values, are in none."""
        return {name: text for name in ("header", *WRITTEN) if (text := getattr(self, name)) != GUESS}

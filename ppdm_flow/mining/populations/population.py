"""What a population file is, and how its columns are called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Population:
    """A CSV file with a row for each person; ``columns`` are (attribute, its name in the file). Relative ``path``."""

    path: str
    columns: tuple[tuple[str, str], ...] = ()
    delimiter: str = ","

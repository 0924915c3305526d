"""A small table of people, and policies that release or withhold it the same way each time."""

from __future__ import annotations

import random
from pathlib import Path

REPRODUCIBLE = """\
# A comment that stays.
version: 1
name: ward
source: {path: people.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  zip: {role: quasi_identifier}
  disease: {role: sensitive}
privacy:
  k_anonymity: {k: 5}
STEPS
releases:
  public: {path: ward.csv}
randomness: {mode: reproducible, seed: 7}
"""
STEPS = "steps:\n  groups: {use: mondrian}\n"


def write_people(folder: Path, rows: int = 300) -> None:
    """Write ``people.csv``, the same each time."""
    draw = random.Random(11)
    lines = ["age,zip,disease"]
    lines += [
        f"{draw.randrange(20, 80)},{draw.randrange(100, 140)},{draw.choice(['flu', 'cold', 'hiv'])}"
        for _ in range(rows)
    ]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")


def write_policy(folder: Path, name: str = "ward.yaml", *, protected: bool = True) -> Path:
    """Write a policy that releases, or (not ``protected``) one whose run is withheld."""
    write_people(folder)
    path = folder / name
    path.write_text(REPRODUCIBLE.replace("STEPS\n", STEPS if protected else ""))
    return path

"""The policies that are changed, each with random small tables that it can read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

Policy = dict[str, Any]
Row = dict[str, str]

_GOOD = Path(__file__).resolve().parents[1] / "examples" / "good"
_OWN = Path(__file__).with_name("policies")


@dataclass(frozen=True)
class Base:
    """A policy as maps of text, what the columns of its tables hold, and how many rows they have."""

    name: str
    policy: Policy
    values: dict[str, tuple[str, ...]]
    rows: int

    def table(self, number: int) -> list[Row]:
        """Return a table: people of few kinds, some kinds with a few people only."""
        draw = Random(f"table {self.name} {number}")
        kinds = [{n: draw.choice(v) for n, v in self.values.items()} for _ in range(draw.randint(2, 5))]
        found = []
        for i in range(self.rows + draw.randint(0, 6)):
            row = dict(draw.choice(kinds))
            for name, attribute in self.policy["attributes"].items():
                if attribute["role"] == "identifier":
                    row[name] = f"p{i:03d}"
                elif attribute["role"] != "quasi_identifier":
                    row[name] = draw.choice(self.values[name])
            found.append({n: row[n] for n in self.policy["attributes"]})
        draw.shuffle(found)
        return found


def bases() -> list[Base]:
    """Return all of them, in a fixed order."""
    ages, jobs, illnesses = ("12", "31", "47"), ("cook", "dean"), ("flu", "cold", "ulcer")
    plain = {"age": ages, "job": jobs, "illness": illnesses, "note": ("n1", "n2"), "site": ("x", "y")}
    return [
        _base(_OWN / "ward.yaml", plain | {"person": ("p",)}, 20),
        _base(_OWN / "shop.yaml", plain | {"person": ("p",), "spend": ("10", "20", "70")}, 20),
        _base(_OWN / "apart.yaml", plain, 20),
        _base(_GOOD / "two_releases.yaml", _two_releases(ages), 150),
        _base(_GOOD / "minimal.yaml", {"age": ages}, 12),
    ]


def _two_releases(ages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    diseases = ("flu", "cold", "ulcer", "HIV")
    return {"age": ages, "region": ("north", "south"), "disease": diseases, "outcome": ("yes", "no")}


def _base(path: Path, values: dict[str, tuple[str, ...]], rows: int) -> Base:
    policy: Policy = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)  # texts and maps only
    policy |= {section: policy.get(section, {}) for section in ("steps", "audits", "gates")}
    policy["source"] = {"path": "data.csv", "format": "csv"}
    for release in policy["releases"].values():
        if not release["path"].endswith(".csv"):
            release["path"] = f"{release['path'].partition('.')[0]}-2.csv"
    return Base(path.stem, policy, values, rows)

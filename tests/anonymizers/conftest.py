from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Directions, Role
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

sys.path.insert(0, str(Path(__file__).resolve().parent))  # tables of numbers, `numeric_tables`


class Papers:
    """The two papers' running examples."""

    @staticmethod
    def patients() -> Table:
        """Chaytor and Wang, Table 1."""
        rows = [
            "21 M SARS",
            "25 F HIV",
            "26 F SARS",
            "28 M HIV",
            "32 F H1N1",
            "34 F cancer",
            "36 M H1N1",
            "39 M cancer",
        ]
        cells = [row.split() for row in rows]
        return Table.of({name: [c[i] for c in cells] for i, name in enumerate(("age", "sex", "disease"))})

    @staticmethod
    def disease(directions: Directions = Directions.BOTH) -> Sensitivity:
        bounds = {"SARS": (1 / 10, 1 / 7), "HIV": (1 / 10, 1 / 4), "H1N1": (1 / 9, 19 / 35), "cancer": (1 / 8, 18 / 25)}
        values = tuple(BoundOfValue(v, *b) for v, b in bounds.items())
        return Sensitivity.of_bounds("disease", values, directions)

    @staticmethod
    def bank() -> InMemoryView:
        """Wang, Fung, Yu, Table 1: 24 records, collapsed."""
        rows = """Cook US No Current Bad 4
Artist France No Current Good 1
Artist France No Current Bad 3
Doctor US Yes Never Good 4
Doctor US Yes Never Bad 2
Trader UK No Discharged Good 4
Trader UK No Never Good 1
Trader Canada No Never Good 1
Clerk Canada No Never Good 3
Clerk Canada No Discharged Good 1"""
        cells = [row.split() for row in rows.splitlines()]
        names = ("Job", "Country", "Child", "Bankruptcy", "rating", "n")
        table = Table.of({name: [c[i] for c in cells] for i, name in enumerate(names)})
        return InMemoryView.of(table, {"rating": Role.TARGET, "n": Role.WEIGHT, "Bankruptcy": Role.SENSITIVE})

    @staticmethod
    def discharged(name: str, confidence: float, *channel: str) -> InferenceTemplate:
        return InferenceTemplate.of(
            f"privacy.templates.{name}",
            name,
            channel=channel,
            sensitive=by_attribute((("Bankruptcy", "Discharged"),)),
            confidence=confidence,
        )


@pytest.fixture
def papers() -> Papers:
    return Papers()


@pytest.fixture(scope="session", autouse=True)
def held_to_their_cards(cards_hold):
    """Check in every test here that the card explains each figure."""
    with cards_hold("anonymizers", "fit"):
        yield

"""Every audit here is held to its card."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def held_to_their_cards(cards_hold):
    """No figure that a card does not tell of, in any test here."""
    with cards_hold("audits", "measure"):
        yield

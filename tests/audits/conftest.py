"""Every audit here is held to its card."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def held_to_their_cards(cards_hold):
    """Check in every test here that the card explains each figure."""
    with cards_hold("audits", "measure"):
        yield

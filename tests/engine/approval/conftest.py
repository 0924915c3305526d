from __future__ import annotations

from pathlib import Path

import pytest
from held_runs import HeldHome


@pytest.fixture
def home(tmp_path: Path) -> HeldHome:
    """A policy with approvals and a ledger in a file."""
    return HeldHome.make(tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> HeldHome:
    """The same without a ledger."""
    return HeldHome.make(tmp_path, ledger=False)

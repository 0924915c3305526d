"""A server of the page for each test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sites import Server


@pytest.fixture
def server(tmp_path: Path) -> Server:
    """Return a server with nobody's policies, and one person a role."""
    return Server(tmp_path)

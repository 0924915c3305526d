"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from served import CHROMIUM, FLAGS  # noqa: E402  # beside this file


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Return a browser without a window."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        yield browser
        browser.close()

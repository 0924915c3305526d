"""What all tests share: the command line in a process of its own, and the public datasets where they are at hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import configuration, settings

from ppdm_flow.api.explain.figure_pages import figure_pages
from ppdm_flow.core.plugin_info import PluginInfo
from ppdm_flow.sdk import registry
from ppdm_flow.testing.figures import untold

ROOT = Path(__file__).resolve().parents[1]

configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "ppdm-flow-hypothesis")
settings.register_profile("ppdm", deadline=None, derandomize=True, database=None)
settings.load_profile("ppdm")

RATIOS = {"share", "probability", "ratio", "nats", "distance", "index", "correlation"}
"""Units of figures that mean nothing without a formula."""

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def cli() -> Cli:
    """Run ``ppdm-flow`` with these words; returns the finished process."""

    def run(
        *words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ppdm_flow", *map(str, words)],
            cwd=cwd or ROOT,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public datasets: ``PPDM_DATA``, or ``../shared/data`` beside the checkout."""
    folder = Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the public datasets are not at hand: set PPDM_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def only_run() -> Callable[[Path], Path]:
    """The one run directory below ``--out``."""

    def find(out: Path) -> Path:
        runs = [p.parent for p in out.glob("*/*/manifest.json")]
        assert len(runs) == 1, runs
        return runs[0]

    return find


@pytest.fixture(scope="session")
def report_of() -> Callable[[Path], dict[str, Any]]:
    """Read ``report.json`` of a run directory; each of its figures has a page."""

    def read(run: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((run / "report.json").read_text())
        silent = [metric for metric in found["metrics"] if not figure_pages(metric)]
        assert not silent, silent
        return found

    return read


@pytest.fixture(scope="session")
def cards_hold() -> Callable[[str, str], AbstractContextManager[None]]:
    """Hold the built-in plugins of a group to their cards: what ``method`` gives has no figure that they do not tell.

    Return a context: `cards_hold("audits", "measure")`.
    """
    return _cards_hold


@contextmanager
def _cards_hold(group: str, method: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for plugin in registry.listed(group):
            if plugin.built_in:
                spec = registry.load(group, plugin.name)
                algorithm = spec.load()
                patch.setattr(algorithm, method, _held(getattr(algorithm, method), spec.info))
        yield


def _held(plain: Callable[..., Any], info: PluginInfo) -> Callable[..., Any]:
    def called(self: Any, *args: Any, **more: Any) -> Any:
        outcome = plain(self, *args, **more)
        measured = (m.metric for m in getattr(outcome, "measured", ()))
        said = list(untold(info, [*outcome.figures, *measured]))
        assert not said, "; ".join(said)
        for metric, figure in outcome.figures.items():
            told = info.figures[info.figure_of(metric) or ""]
            fine = told.formula or figure.value is None or figure.unit not in RATIOS
            assert fine, f"`{metric}` of `{info.name}` is a {figure.unit}: of what?"
        return outcome

    return called

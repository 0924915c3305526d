"""Plugins of other people, really built and installed, each time into a folder of their own, without a network."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[1] / "plugins"
Env = dict[str, str]
Python = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def python() -> Python:
    """Run Python with these words in an environment; it must end well unless ``check`` is false."""

    def run(*words: str, env: Env, check: bool = True, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *words],
            env=env,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory, python: Python) -> Callable[..., Env]:
    """Install distributions from ``tests/plugins``; returns the environment in which Python finds them."""
    if importlib.util.find_spec("pip") is None or importlib.util.find_spec("hatchling") is None:
        pytest.skip("pip and hatchling are needed to build plugins; the extra `test` brings hatchling")

    def into(*names: str) -> Env:
        target = tmp_path_factory.mktemp("plugins")
        sources = [str(_copied(PLUGINS / name, tmp_path_factory.mktemp("source"))) for name in names]
        words = ["install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
        quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_ROOT_USER_ACTION": "ignore"}
        python("-m", "pip", *words, *sources, env={**os.environ, **quiet})
        path = os.pathsep.join(filter(None, (str(target), os.environ.get("PYTHONPATH"))))
        return {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "200"}

    return into


@pytest.fixture(scope="session")
def acme(install: Callable[..., Env]) -> Env:
    """The environment in which the plugin `acme_plugin` is installed."""
    return install("acme_plugin")


def _copied(folder: Path, to: Path) -> Path:
    """A copy to build in, so that nothing is written into the checkout."""
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            place = to / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
    return to

"""Plugins of other people, really built and installed, each into a folder of its own, without a network."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from warm import Warm, of_program

PLUGINS = Path(__file__).resolve().parents[1] / "plugins"
FORKED = """
import os, runpy, sys
sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""
"""Runs the module in ``sys.argv[1]`` where the environment has Python find it, as ``python -m`` does."""
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
            timeout=1200,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory, python: Python) -> Callable[..., Env]:
    """Install distributions from ``tests/plugins``, each once; returns the environment in which Python finds them."""
    if importlib.util.find_spec("pip") is None or importlib.util.find_spec("hatchling") is None:
        pytest.skip("pip and hatchling are needed to build plugins; the extra `test` brings hatchling")

    @cache
    def target(name: str) -> str:
        into, source = tmp_path_factory.mktemp("plugins"), _copied(PLUGINS / name, tmp_path_factory.mktemp("source"))
        words = ["install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(into)]
        quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_ROOT_USER_ACTION": "ignore"}
        python("-m", "pip", *words, str(source), env={**os.environ, **quiet})
        return str(into)

    def into(*names: str) -> Env:
        path = os.pathsep.join(filter(None, (*map(target, names), os.environ.get("PYTHONPATH"))))
        return {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "200"}

    return into


@pytest.fixture(scope="session")
def forked() -> Iterator[Python]:
    """Run Python with these words in a fork of a process that has the imports of `ppdm-flow`, but no plugin yet."""
    warm = Warm(of_program())

    def run(*words: str, env: Env, check: bool = True, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        kind, what, *more = words
        assert kind == "-m"
        done = warm.run(["-c", FORKED, what, *more], cwd, env)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    yield run
    warm.close()


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

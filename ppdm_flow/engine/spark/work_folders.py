"""Folders that the executors of a `local-cluster` write below Spark's own: marked as ours, and removed once unused."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from ppdm_flow.engine.candidates.unpublished import is_dead

SIGN = ".ppdm-flow"
"""A file that says that a folder is of a session of ours, whose process holds a lock on the folder."""


@contextmanager
def marked_folder(application: str) -> Iterator[None]:
    """Mark the folder of an application, while its session lasts; the folder is removed at the end."""
    folder = spark_work_folder() / application
    handle = -1
    with contextlib.suppress(OSError):  # Spark's folder may belong to somebody else: executors say so then
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        (folder / SIGN).touch()
    try:
        yield
    finally:
        _remove(folder)
        if handle >= 0:
            os.close(handle)


def left_folders() -> list[Path]:
    """Return the folders of sessions of ours whose processes are dead."""
    try:
        signed = [sign.parent for sign in sorted(spark_work_folder().glob(f"*/{SIGN}"))]
    except OSError:
        return []
    return [folder for folder in signed if not folder.is_symlink() and is_dead(folder)]


def remove_left_folders() -> None:
    """Remove them."""
    for folder in left_folders():
        _remove(folder)


def spark_work_folder() -> Path:
    """Return the folder that executors of a `local-cluster` work in, if there is a Spark."""
    home = os.environ.get("SPARK_HOME")
    if home:
        return Path(home) / "work"
    spec = find_spec("pyspark")
    places = (spec and spec.submodule_search_locations) or ["pyspark"]
    return Path(places[0]) / "work"


def _remove(folder: Path) -> None:
    """Remove a folder, its sign last: executors that outlive their driver for a moment may still write there."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.name != SIGN:
                shutil.rmtree(path, ignore_errors=True)
        if not any(path.name != SIGN for path in folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)

"""Writes envelopes whole or not at all: first beside the manifest, then into the releases."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ppdm_flow.core.results import RELEASED
from ppdm_flow.engine.evidence.places import ATTESTATIONS, HIDDEN, copy_folder, copy_name, file_name
from ppdm_flow.engine.faults import output_fault, run_fault
from ppdm_flow.evidence.checking import Attestation

_PAUSE = 0.05


@contextmanager
def run_lock(run_dir: Path, patience: float = 60.0) -> Iterator[None]:
    """Hold a run's directory for oneself: signing and releasing wait for each other.

    What a killed process left half written is removed. Raises RunError where another process has the directory for
    longer than ``patience`` seconds, or it cannot be opened.
    """
    try:
        handle = os.open(run_dir, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise output_fault(error, f"`{run_dir.name}`") from None
    try:
        deadline = time.monotonic() + patience
        while not _free(handle):
            if time.monotonic() > deadline:
                raise run_fault("PPF965", f"another process is at work in `{run_dir.name}`", advice="try again later")
            time.sleep(_PAUSE)
        for left in run_dir.glob(f"{HIDDEN}*"):
            left.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)


def _free(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_envelope(run_dir: Path, attestation: Attestation) -> Path:
    """Write an envelope beside the manifest, and return its path. Raises RunError where it cannot be written."""
    return _written(run_dir, run_dir / ATTESTATIONS / file_name(attestation), attestation.envelope.data)


def write_copy(run_dir: Path, attestation: Attestation, folder: str = RELEASED) -> Path:
    """Write the copy for the recipient of the release, which lies below ``folder``, and return its path."""
    place = run_dir / copy_folder(attestation.release, folder) / copy_name(attestation)
    return _written(run_dir, place, attestation.envelope.data)


def _written(run_dir: Path, path: Path, data: bytes) -> Path:
    folder = path.parent
    hidden = run_dir / f"{HIDDEN}{os.getpid()}-{secrets.token_hex(4)}"
    try:
        folder.mkdir(exist_ok=True)
        try:
            with hidden.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            hidden.rename(path)
        except BaseException:
            with contextlib.suppress(OSError):
                hidden.unlink()
            raise
        for each in (folder, folder.parent):
            _sync(each)
    except OSError as error:
        raise output_fault(error, f"`{path.name}`") from None
    return path


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

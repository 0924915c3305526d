"""The folders of a server: they are there, apart from each other, and no other server has the same state."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.settings import Settings

_LOCK = "server.lock"


def check_folders(settings: Settings) -> None:
    """Raise UsageError where a folder is missing, or one is or lies in another (PPF988).

    Whoever may write into one would reach what belongs to the other: uploads below ``runs`` would be listed as runs.
    """
    named = {"--policies": settings.policies, "--runs": settings.runs, "--state": settings.state}
    for option, folder in named.items():
        if option != "--state" and not folder.is_dir():
            text = f"`{option} {folder}` is no folder"
            raise UsageError(Diagnostic("PPF988", text, help="make it first, or name another"))
    real = {option: folder.resolve() for option, folder in named.items()}
    for (inner, folder), (outer, around) in permutations(real.items(), 2):
        if folder.is_relative_to(around):
            text = f"the folder of `{inner}` is or lies in that of `{outer}`"
            raise UsageError(Diagnostic("PPF988", text, help="give each a folder of its own, beside the others"))


@contextmanager
def state_held(settings: Settings) -> Iterator[None]:
    """Hold the state of a server until the block ends; the lock goes with the process, however that ends.

    Raises UsageError where another server has it (PPF990), or it cannot be made or others may read it (PPF988).
    """
    state = settings.state
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        if state.stat().st_mode & 0o077:
            text = f"other users of this machine may enter `--state {state}`"
            raise UsageError(Diagnostic("PPF988", text, help=f"chmod 700 {state}"))
        handle = os.open(state / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        text = f"`--state {state}` cannot be used: {os.strerror(error.errno or 0)}"
        raise UsageError(Diagnostic("PPF988", text)) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        text = f"another server uses `--state {state}`"
        raise UsageError(Diagnostic("PPF990", text, help="stop it, or give this one a state of its own")) from None
    finally:
        os.close(handle)

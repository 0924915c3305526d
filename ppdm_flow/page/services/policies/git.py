"""Git, asked with fixed words: no shell, no pager, no prompt, no push, and an end to every wait."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.api.diff.revisions import NO_BARE_REPOSITORY

_READING, _COMMITTING = 20.0, 120.0
"""Seconds: hooks of a repository may check a commit for a while."""
_KEPT = 4_000
_SETTINGS = ("core.quotePath=false", "core.editor=false", NO_BARE_REPOSITORY)
_FIXED = ("--no-pager", "--literal-pathspecs", *(word for each in _SETTINGS for word in ("-c", each)))


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """What git said; ``status`` is 0 where it did what it was asked, None where it took too long."""

    status: int | None
    output: bytes
    told: str

    @property
    def text(self) -> str:
        """The output as text."""
        return self.output.decode(errors="replace")


def ask(folder: Path, *words: str, given: bytes = b"") -> GitAnswer:
    """Return what git says of a folder; nothing is changed."""
    return _run(folder, words, given, {"GIT_OPTIONAL_LOCKS": "0"}, _READING)


def change(folder: Path, words: Sequence[str], more: Mapping[str, str], given: bytes = b"") -> GitAnswer:
    """Have git change an index or write a commit, with the hooks of the repository and ``more`` variables."""
    return _run(folder, words, given, more, _COMMITTING)


def _run(folder: Path, words: Sequence[str], given: bytes, more: Mapping[str, str], seconds: float) -> GitAnswer:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", **more}
    try:
        process = subprocess.Popen(  # noqa: S603  # git of the server's PATH, no shell
            ["git", "-C", str(folder), *_FIXED, *words],  # noqa: S607  # the same
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError:
        return GitAnswer(127, b"", "")
    with process:
        try:
            output, told = process.communicate(given, seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return GitAnswer(None, b"", "")
    return GitAnswer(process.returncode, output, told.decode(errors="replace")[-_KEPT:])


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what its hooks began; git takes its locks away where it has a moment for it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.communicate(timeout=5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue

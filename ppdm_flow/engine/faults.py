"""Errors of a run. Exceptions of plugins become errors of ours that quote nothing."""

from __future__ import annotations

import errno
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PpdmError, RefusedError, RunError
from ppdm_flow.core.spans import Span

RELEASED_WITH = "--released-with"
_OF_FILES = {f"PPF{number}" for number in (*range(486, 491), *range(701, 708), 716)}
"""How a file is written."""
_OF_COLUMNS = {f"PPF{number}" for number in (*range(708, 720), 904)}
"""What is in its columns, where a policy's attributes say which file is meant unless there are several."""
_SOURCE_OPTION = re.compile(r"(?:source: \{)?with: \{(\w+): ([^}]*)\}\}?")
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def data_fault(
    code: str, message: str, *, span: Span | None = None, hint: str | None = None, advice: str | None = None
) -> DataError:
    """Build a DataError of one diagnostic."""
    return DataError(Diagnostic(code, message, span=span, hint=hint, help=advice))


def refusal(code: str, message: str, *, advice: str | None = None) -> RefusedError:
    """Build a RefusedError of one diagnostic."""
    return RefusedError(Diagnostic(code, message, help=advice))


def run_fault(code: str, message: str, *, advice: str | None = None) -> RunError:
    """Build a RunError of one diagnostic."""
    return RunError(Diagnostic(code, message, help=advice))


@contextmanager
def wrap_plugin_errors(who: str) -> Iterator[None]:
    """Turn any exception of the plugin ``who`` into a PpdmError that names the plugin and quotes nothing."""
    try:
        yield
    except PpdmError:
        raise
    except OSError as error:
        raise output_fault(error, who) from None
    except MemoryError:
        raise run_fault("PPF733", f"{who}: not enough memory") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  # any exception of a plugin may quote data, or exit with 0
        raise run_fault("PPF901", f"{who} failed with {_named(error)} {_place(error)}") from None


@contextmanager
def naming_file(path: Path, option: str | None = None, *, one_of_several: bool = True) -> Iterator[None]:
    """Name the file in errors of its reader, and of its columns where it is one of several.

    ``option`` is what says how it is written, if not the policy's source.
    """
    codes = _OF_FILES | _OF_COLUMNS if one_of_several else _OF_FILES
    try:
        yield
    except DataError as error:
        diagnostics = [_about_file(d, path, option) if d.code in codes else d for d in error.diagnostics]
        raise DataError(diagnostics, error.sources) from None


def _about_file(diagnostic: Diagnostic, path: Path, option: str | None) -> Diagnostic:
    message = diagnostic.message
    if str(path) not in message:
        message = f"`{path}`: {message}"
    if option is None:
        return replace(diagnostic, message=message)
    advice = _SOURCE_OPTION.sub(rf"{option} \1=\2", diagnostic.help or "")
    if option not in advice:
        advice = f"{advice}; " * bool(advice) + f"`{option} NAME=VALUE` says how this file is written"
    return replace(diagnostic, message=message, help=advice)


def output_fault(error: OSError, what: str) -> RunError:
    """Return the error for a file that cannot be written."""
    if error.errno in _FULL:
        return run_fault("PPF730", f"{what}: no space left to write to", advice="nothing was released; make room")
    reason = error.strerror if error.errno and error.strerror else type(error).__name__
    return run_fault("PPF693", f"{what}: cannot write: {reason}")


def _named(error: BaseException) -> str:
    kind = type(error).__name__
    return f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}"


def _place(error: BaseException) -> str:
    """Say where it was raised: file name and line, never the text of the message."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f"at {Path(frames[-1].filename).name}:{frames[-1].lineno}"

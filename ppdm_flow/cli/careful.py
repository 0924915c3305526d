"""A command that never writes over what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

_WRITTEN = frozenset({"output_file", "output_files", "picture"})
"""The parameters of verbs that name a file to be written."""
_POLICIES = frozenset({".yaml", ".yml"})


class Careful(TyperCommand):
    """Looks at the words of a command before it begins."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises UsageError where it would write over its input (PPF664)."""
        apart(ctx.params)
        return super().invoke(ctx)


def apart(params: Mapping[str, Any]) -> None:
    """Raise UsageError where a file to be written is one that is read, or a policy in a folder that is read."""
    written = [path for name in _WRITTEN for path in _paths(params.get(name))]
    read = [path for name, value in params.items() if name not in _WRITTEN for path in _paths(value)]
    for path in written:
        if path.is_file() and any(_holds(each, path) for each in read):
            help_ = "give the outcome a file of its own"
            raise UsageError(Diagnostic("PPF664", f"`{path}` is read, so that it cannot be written", help=help_))


def _paths(value: Any) -> Iterator[Path]:
    for each in value if isinstance(value, list | tuple) else (value,):
        if isinstance(each, str | Path) and "\0" not in str(each):
            yield Path(each)


def _holds(read: Path, path: Path) -> bool:
    try:
        if read.is_dir():
            return path.suffix in _POLICIES and read.resolve() in path.resolve().parents
        return read.samefile(path)
    except OSError:
        return False

"""A command that refuses to overwrite its input files, a ledger, a key or a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from ppdm_flow import api

_WRITTEN = frozenset({"output_file", "output_files", "picture"})
"""The parameters of verbs that name a file to be written."""


class NoOverwriteCommand(TyperCommand):
    """Checks the output files of a command before it starts."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises UsageError if it would overwrite a protected file (PPF664)."""
        refuse_overwriting(ctx.params)
        return super().invoke(ctx)


def refuse_overwriting(params: Mapping[str, Any]) -> None:
    """Raise UsageError if an output file is an existing protected file."""
    written = [path for name in _WRITTEN for path in _paths(params.get(name)) if path.is_file()]
    if not written:
        return
    read = [path for name, value in params.items() if name not in _WRITTEN for path in _paths(value)]
    given = [str(each).partition("=") for each in params.get("sets") or ()]
    sets = {name: value for name, equals, value in given if equals}
    for path in written:
        api.check_output(path, read, sets)


def _paths(value: Any) -> Iterator[Path]:
    for each in value if isinstance(value, list | tuple) else (value,):
        if isinstance(each, str | Path) and "\0" not in str(each):
            yield Path(each)

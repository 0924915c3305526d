"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _file(path: Path | None) -> Path | None:
    if path is not None and str(path) == "-":
        raise typer.BadParameter("data is read more than once, so it must be a file: stdin cannot serve")
    return path


PolicyPath = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.", show_default=False)]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run's directory.", show_default=False)]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a param of the policy; repeatable.", show_default=False),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE", callback=_file, help="The data, in place of the policy's `source.path`."),
]
OutputFile = Annotated[
    Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write there instead of to stdout.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
Locked = Annotated[
    bool, typer.Option("--locked", help="Refuse what is not as `ppdm-flow.lock` has it; `ppdm-flow lock` writes it.")
]

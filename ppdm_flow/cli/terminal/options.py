"""Options that several verbs share, or that hold several values between commas."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.shares import is_plain_number, plain_share
from ppdm_flow.policy.project_file import no_project


class EngineName(StrEnum):
    """What works on the rows."""

    LOCAL = "local"
    SPARK = "spark"


def option(flag: str, metavar: str, what: str) -> Any:
    """Return an option that takes a value, with its help."""
    return typer.Option(flag, metavar=metavar, help=what)


def share_option(flag: str, what: str) -> Any:
    """Return an option that takes a share, or a percentage, with its help."""
    return typer.Option(flag, metavar="SHARE", help=what, parser=_share)


def _share(text: str | float) -> float:
    return float(plain_share(str(text)))


def _without_project(ctx: typer.Context, wanted: bool) -> bool:
    if wanted:
        ctx.with_resource(no_project())
    return wanted


def _refuse_no_project(wanted: bool) -> bool:
    """Raise UsageError where a verb that releases data is to forget the project file (PPF357)."""
    if wanted:
        text = "`--no-project` is for a look: what releases data is bound by the project file"
        raise UsageError(Diagnostic("PPF357", text, help="change the project file, where its owner agrees"))
    return wanted


Place = TypeVar("Place", str, Path)


def data_file(path: Place | None) -> Place | None:
    """Return a path of data as it was given. Raises BadParameter for stdin."""
    if path is not None and str(path) == "-":
        raise typer.BadParameter("data is read more than once, so it must be a file: stdin cannot serve")
    return path


PolicyPath = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.", show_default=False)]
ReleasePath = Annotated[
    Path,
    typer.Argument(
        metavar="RELEASE",
        help="A run's directory, a folder with a release, or the data file with operator.json beside it.",
        show_default=False,
    ),
]
RunPath = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run's directory, or s3://bucket/… of one.", show_default=False)
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a param of the policy; repeatable.", show_default=False),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FILE",
        callback=data_file,
        help="The data, in place of the policy's `source.path`: a file, a folder or a glob, or s3://bucket/… with one.",
    ),
]
RunData = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="FILE",
        path_type=str,
        callback=data_file,
        help="The data, in place of the policy's `source.path`: a file, a folder or a glob, or s3://bucket/… with one."
        " With Spark also table:NAME, delta:PATH or iceberg:NAME.",
    ),
]
OwnData = Annotated[
    bool, typer.Option("--own-data", help="Read the data that the policy names: a file, a database, an object store.")
]
Memory = Annotated[
    int | None, typer.Option("--memory", min=64, metavar="MB", help="Coded data that is held at once; 768 MB.")
]
Operator = Annotated[Path | None, option("--operator", "FILE", "The operator.json, if it is elsewhere.")]
OutputFile = Annotated[
    Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write there instead of to stdout.")
]
NoProject = Annotated[
    bool,
    typer.Option(
        "--no-project",
        callback=_without_project,
        help="Ignore the project file: for inspection, never for a release.",
    ),
]
RefusedNoProject = Annotated[bool, typer.Option("--no-project", callback=_refuse_no_project, hidden=True)]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
Locked = Annotated[
    bool, typer.Option("--locked", help="Refuse differences from `ppdm-flow.lock`, which `ppdm-flow lock` writes.")
]


def words(text: str | None) -> tuple[str, ...]:
    """Return the parts, without blanks around them; nothing for no option."""
    return () if text is None else tuple(part.strip() for part in text.split(","))


def numbers(option: str, text: str | None) -> tuple[float, ...]:
    """Return numbers. Raises UsageError where a part is none."""
    try:
        values = tuple(float(part) if is_plain_number(part) else math.nan for part in words(text))
    except ValueError:
        values = (math.nan,)
    if not all(math.isfinite(n) for n in values):
        raise UsageError(Diagnostic("PPF120", f"`{option}` takes numbers with commas between, as 0,18,65"))
    return values


def whole_numbers(option: str, text: str | None) -> tuple[int, ...]:
    """Return whole numbers from 0. Raises UsageError where a part is none."""
    values = numbers(option, text)
    if any(n < 0 or n != int(n) for n in values):
        raise UsageError(Diagnostic("PPF120", f"`{option}` takes whole numbers with commas between, as 4,3,0"))
    return tuple(int(n) for n in values)

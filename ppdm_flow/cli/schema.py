"""``ppdm-flow schema``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.documents import SCHEMAS
from ppdm_flow.cli.terminal.options import option
from ppdm_flow.cli.terminal.output import put, say

EXAMPLES = ("schema policy", "schema policy --installed", "schema", "schema --check")


def schema(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help=f"{', '.join(SCHEMAS)}.", show_default=False)
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing: say which files are stale.")] = False,
    installed: Annotated[
        bool, typer.Option("--installed", help="Of policies: with the requirements of other packages, for editors.")
    ] = False,
    folder: Annotated[Path, option("--dir", "FOLDER", "Where the schema files are.")] = Path("schemas"),
) -> None:
    """Write the JSON Schemas into their folder; print the one that is named.

    Exit status: 0 printed, written or in step, 1 a file is stale (with --check), 2 there is no such schema, or
    (with --installed) a requirement cannot be loaded.
    """
    if installed:
        put(api.installed_text(names or ()).rstrip("\n"))
        return
    files = api.schema(names or (), folder)
    stale = [each for each in files if each.stale]
    if check:
        for each in stale:
            put(f"{each.file} is not what `ppdm-flow schema` writes")
        say(f"{len(files) - len(stale)} of {len(files)} schemas are in step")
        raise typer.Exit(1 if stale else 0)
    if names:
        put("\n".join(each.text.rstrip("\n") for each in files))
        return
    api.write_schemas(files)
    put("\n".join(f"{each.file} {'written' if each.stale else 'in step'}" for each in files))

"""``ppdm-flow init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.output import put, say

EXAMPLES = ("init my-policies",)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder, new or without these files.")],
) -> None:
    """Write a first policy with invented data, a README and a workflow; nothing is downloaded.

    Exit status: 0 written, 2 a file is there already.
    """
    files = api.init(folder)
    put("\n".join(str(file) for file in files))
    say(f"next: ppdm-flow check {folder / 'policies'}; ppdm-flow run {files[0]}")

"""``ppdm-flow init``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.output import put, say

EXAMPLES = ("init acme-policies", "init acme-policies --template sensitive-value-perturbation", "list templates")


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder, new or without these files.")],
    template: Annotated[
        str,
        typer.Option(metavar="NAME", help="The built-in template that the first policy builds on, or `linked-tables`."),
    ] = "microdata-kl",
) -> None:
    """Write a repository of release policies; nothing is downloaded.

    It holds a policy over a template of the house over a built-in one (or of
    linked tables), policy tests, invented data, jobs for GitHub and GitLab, pre-commit hooks, and schemas for
    editors.

    Exit status: 0 written, 2 a file is there already, or there is no such template.
    """
    files = api.init(folder, template)
    put("\n".join(str(file) for file in files))
    run = f"ppdm-flow run {files[0].relative_to(folder)}"
    say(f"next: cd {shlex.quote(str(folder))}; ppdm-flow check policies/; ppdm-flow test tests/; {run}")
    say("then: ppdm-flow lock; git init; git add .; git commit; README.md has every command")

"""``ppdm-flow init``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.output import deliver, put, say
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

EXAMPLES = (
    "init acme-policies",
    "init acme-policies --template sensitive-value-perturbation",
    "list templates",
    "init --from-contract patients.odcs.yaml --out policies/patients.yaml",
)
_TEMPLATE = "microdata-kl"


def init(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="A folder, new or without these files.", show_default=False)
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"The built-in template that the first policy builds on, or `linked-tables`; {_TEMPLATE}.",
        ),
    ] = None,
    contract: Annotated[
        Path | None,
        typer.Option("--from-contract", metavar="FILE", help="Draft one policy from a data contract (ODCS 3) instead."),
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="The contract's table, where it has several.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "--output-file", "-o", metavar="FILE", help="Write that policy there, if nothing is."),
    ] = None,
) -> None:
    """Write a repository of release policies, or a first policy from a data contract; nothing is downloaded.

    The repository holds a policy over a template of the house over a built-in one (or of
    linked tables), policy tests, invented data, jobs for GitHub and GitLab, pre-commit hooks, and schemas for
    editors.

    From a contract (Open Data Contract Standard, version 3) come names, types, descriptions, and roles guessed from
    keys, tags and classifications. Comments say why, what to decide, and what was not taken over.

    Exit status: 0 written, 2 a file is there already, there is no such template, or the contract is wrong.
    """
    if contract is not None:
        _from_contract(contract, table, out, other=folder is not None or template is not None)
        return
    if folder is None or table is not None or out is not None:
        text = "a repository needs a DIR" if folder is None else "`--table` and `--out` belong to `--from-contract`"
        raise UsageError(Diagnostic("PPF120", text, help="ppdm-flow init DIR, or ppdm-flow init --from-contract FILE"))
    files = api.init(folder, template or _TEMPLATE)
    put("\n".join(str(file) for file in files))
    run = f"ppdm-flow run {files[0].relative_to(folder)}"
    say(f"next: cd {shlex.quote(str(folder))}; ppdm-flow check policies/; ppdm-flow test tests/; {run}")
    say("then: ppdm-flow lock; git init; git add .; git commit; README.md has every command")


def _from_contract(contract: Path, table: str | None, out: Path | None, *, other: bool) -> None:
    if other:
        text = "`--from-contract` drafts one policy, and no repository from a template"
        raise UsageError(Diagnostic("PPF120", text, help="leave out DIR and `--template`; `--out` names the policy"))
    if out is not None and out.is_file():
        raise UsageError(Diagnostic("PPF673", f"`{out}` is there already: nothing was written"))
    deliver(api.from_contract(contract, table), out)

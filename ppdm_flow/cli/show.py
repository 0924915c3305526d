"""``ppdm-flow show``."""

from __future__ import annotations

from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.cli.terminal.options import NoProject, OutputFile, PolicyPath, Sets
from ppdm_flow.cli.terminal.output import deliver

EXAMPLES = ("show pipelines/hospital.yaml", "show pipelines/hospital.yaml --origin")


def show(
    policy: PolicyPath,
    origin: Annotated[
        bool, typer.Option("--origin", help="Show for each value the file and line that set it.")
    ] = False,
    sets: Sets = None,
    output_file: OutputFile = None,
    no_project: NoProject = False,  # noqa: ARG001  # its callback sees to it
) -> None:
    """Show a policy after inheritance and params.

    Exit status: 0 shown, 2 the policy is invalid.
    """
    deliver(api.show(policy, settings(sets or ()), origin=origin), output_file)

"""``ppdm-flow explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.output import put

EXAMPLES = (
    "explain PPF201",
    "explain quasi_identifier",
    "explain fine_grain_perturbation",
    "explain builtin:microdata-k",
    "explain",
)


def explain(
    term: Annotated[
        str | None,
        typer.Argument(
            metavar="[TERM]",
            help="A code, a role, a requirement, a section, a plugin, a template or a figure.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Explain a code or a word; without one, list everything that has a page.

    Exit status: 0 explained, 2 there is no such page.
    """
    put(api.topics() if term is None else api.explain(term))

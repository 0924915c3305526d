"""``ppdm-flow list``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.explain.listing import REQUIREMENTS
from ppdm_flow.cli.terminal.output import put
from ppdm_flow.core.texts import json_text

EXAMPLES = ("list anonymizers", "list requirements", "list audits --format json", "list figures", "list templates")


class ListFormat(StrEnum):
    """How a list is written."""

    TEXT = "text"
    JSON = "json"


def listing(
    group: Annotated[
        str,
        typer.Argument(
            metavar="GROUP", help="anonymizers, audits, sources, sinks, requirements, figures or templates."
        ),
    ],
    form: Annotated[ListFormat, typer.Option("--format", help="How to write the list.")] = ListFormat.TEXT,
) -> None:
    """List the plugins and requirements that are installed, the figures that they measure, or the templates to extend.

    Exit status: 0 listed, 2 there is no such list.
    """
    cards = api.plugins(group)
    if form is ListFormat.JSON:
        put(json_text([card.document for card in cards]))
        return
    width = max((len(card.name) for card in cards), default=0)
    for card in cards:
        put(f"{card.name:<{width}}  {card.summary or card.fault}")
        if card.reference and group == REQUIREMENTS:
            put(f"{'':<{width}}  {card.reference}")
        if card.also:
            put(f"{'':<{width}}  also: {', '.join(card.also)}")
        serves = f"serves {', '.join(card.serves)}; " if card.serves else ""
        kind = f"{card.kind} of {card.of}" if card.of else card.kind.replace("_", "-")
        put(f"{'':<{width}}  {serves}{kind}; {card.distribution}")

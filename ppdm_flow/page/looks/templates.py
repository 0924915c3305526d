"""HTML templates: everything is escaped, and a name that is not given is an error."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from ppdm_flow.core.texts.widths import shortened
from ppdm_flow.page.looks.addresses import approval_address, policy_address, run_address, shown_address
from ppdm_flow.page.looks.obeyed import with_all_visible
from ppdm_flow.page.looks.phrases import editor_phrases
from ppdm_flow.page.looks.prose import prose
from ppdm_flow.page.looks.quoted import quoted
from ppdm_flow.page.looks.sayings import SAYINGS
from ppdm_flow.page.looks.sections import sections
from ppdm_flow.page.texts.catalogue import catalogue

_LONGEST = 16_000_000
"""Characters of a page. The form of a policy has some 6 MB, and a text of 1 MB five where all of it is escaped."""


class LongPageError(ValueError):
    """A page would have more characters than a browser is sent."""


@cache
def environment() -> Environment:
    """Return the environment that all pages are made in. Templates of a feature are in ``html/<feature>/``."""
    made = Environment(
        loader=PackageLoader("ppdm_flow.page", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        approval_address=approval_address,
        editor_phrases=editor_phrases,
        policy_address=policy_address,
        run_address=run_address,
        sayings=SAYINGS,
        sections=sections,
        shown_address=shown_address,
        t=catalogue(),
    )
    made.filters["quoted"] = quoted
    made.filters["prose"] = prose
    made.filters["shortened"] = shortened
    return made


def rendered(template: str, **values: object) -> str:
    """Return a page, or a part of one that a script of the page puts in its place.

    Raises LongPageError: what people wrote and uploaded may make pages of any length, which no other request waits for.
    """
    pieces, left = [], _LONGEST
    for piece in environment().get_template(template).generate(values):
        left -= len(piece)
        if left < 0:
            raise LongPageError
        pieces.append(piece)
    return with_all_visible("".join(pieces))

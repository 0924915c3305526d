"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from ppdm_flow.core.documents import about


class FirstDrawFields(TypedDict):
    """What a first draw asks."""

    attributes: Annotated[list[str], about("The randomized attributes.")]

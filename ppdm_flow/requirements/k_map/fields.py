"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.documents import about


class PopulationFields(TypedDict):
    """The file of a population."""

    path: str
    columns: dict[str, str]
    delimiter: str


class KMapFields(TypedDict):
    """What k-map asks."""

    k: Annotated[int, Field(ge=1)]
    attributes: Annotated[list[str], about("What forms the classes.")]
    population: PopulationFields

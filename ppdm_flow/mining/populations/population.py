"""The form of a population file, and the names of its columns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.model import Fixed, FixedMap, InDocuments, Model

_PATH = "A CSV file with a header, relative to this file."
_COLUMNS = "What that file calls the attributes, where its names are others."
_DELIMITER = "What separates the cells of that file."


class PopulationFile(Model):
    """A CSV file with a row for each person; ``columns`` names its columns where they are called otherwise."""

    path: Annotated[str, Field(description=_PATH, examples=["voters.csv"])]
    columns: Annotated[dict[str, str], Fixed, InDocuments(always=True)] = Field(
        default_factory=FixedMap, description=_COLUMNS, examples=[{"zip": "ZIP"}]
    )
    delimiter: Annotated[str, Field(description=_DELIMITER, examples=[","])] = ","

"""The entry of a policy. What a field says of itself is what editors and `explain` show."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import HIGHER, Clause, Texts


class PSensitive(Clause):
    """Every class has at least ``k`` rows, and at least ``p`` values of each sensitive attribute."""

    p: Annotated[
        int,
        Field(ge=2, description="The least number of values of each sensitive attribute in a class.", examples=[3]),
        HIGHER,
    ]
    k: Annotated[int, Field(ge=2, description="The least number of rows in a class.", examples=[5]), HIGHER]
    sensitive: Annotated[
        Texts | None,
        Field(description="The attributes whose values vary; all with the role `sensitive` unless it is given."
              , examples=[["disease", "salary"]]),
    ] = None
    attributes: Annotated[
        Texts | None,
        Field(description="What forms the classes; all quasi-identifiers unless it is given.", examples=[["age", "zip"]]),
    ] = None

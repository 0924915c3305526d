"""p-sensitive k-anonymity: large classes with several values of every sensitive attribute."""

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import HIGHER, MORE, InDocuments, Texts
from ppdm_flow.plugins import OnPeople, Role, reaching


class PSensitive(OnPeople):
    """Every class has at least ``k`` rows, and at least ``p`` values of each sensitive attribute."""

    kind: ClassVar[str] = "acme_p_sensitive"
    counts_values: ClassVar[bool] = True
    classes: ClassVar[str] = "acme_requirements.p_sensitive.algorithm:models"
    p: Annotated[
        int,
        Field(ge=2, description="The least number of values of each sensitive attribute in a class.", examples=[3]),
        HIGHER,
    ]
    k: Annotated[int, Field(ge=2, description="The least number of rows in a class.", examples=[5]), HIGHER]
    sensitive: Annotated[
        Texts,
        Field(
            description="The attributes whose values vary; all with the role `sensitive` unless it is given.",
            examples=[["disease", "salary"]],
        ),
        MORE,
        InDocuments(always=True),
    ] = ()

    def bound(self, place):
        """Return it bound to a policy: it protects all sensitive attributes where it names none."""
        return super().bound(place).changed(sensitive=self.sensitive or place.with_role(Role.SENSITIVE))

    @property
    def secrets(self):
        return self.sensitive

    def is_absent_from(self, sources):
        """Classes have to be large even where no sensitive attribute is released."""
        return False

    def on_columns(self, columns):
        for each in super().on_columns(columns):
            yield each.changed(sensitive=columns.every(self.sensitive, self))

    @property
    def class_claim(self):
        return f"has at least {self.k} rows, and {self.p} values of each of {', '.join(self.sensitive)}"

    def renamed(self, name_of):
        """Return it in the names that attributes have where a step reads them."""
        return super().renamed(name_of).changed(sensitive=reaching(self.sensitive, name_of))

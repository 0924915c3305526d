"""From requirements to the models that the search enforces, and the sensitive columns that these look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.class_models.task import RecodingTask
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.recoding.models import ClassModel, KAnonymous
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import imported
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveCodes:
    """The values of a sensitive column as codes.

    ``codes`` (combinations,) of one attribute below ``size``; ``place`` is the code of each value.
    """

    name: str
    codes: Codes
    size: int
    place: Mapping[str, int]


def dense(counts: Counts, name: str, nulls: Nulls) -> SensitiveCodes:
    """Return an attribute's values after the two marks: suppressed and missing cells are values too.

    Raises PluginError where the null semantics leave out rows that the search would count.
    """
    codes = counts.of(name)
    if nulls is Nulls.EXCLUDE and (codes[counts.counts > 0] == MISSING).any():
        text = f"the column `{name}` has missing values, which `nulls: exclude` leaves out of every class"
        raise PluginError(Diagnostic("PPF807", text, help="`incomplete_rows: drop` drops them"))
    names = counts.names(name).to_pylist()
    place = {value: i + SPECIALS for i, value in enumerate(names)}
    return SensitiveCodes(name, np.ascontiguousarray(codes + np.int32(SPECIALS)), len(names) + SPECIALS, place)


class RequiredModels:
    """The largest ``k`` of rows, the ``others`` beside it, and the ``sensitive`` columns that their places mean.

    ``by_requirement`` are the models of each requirement beside the attributes that it groups by.
    """

    def __init__(self, task: RecodingTask, counts: Counts, ctx: StepContext, extra: Sequence[str] = ()) -> None:
        self.counts = counts
        self.sensitive = [dense(counts, name, ctx.nulls) for name in dict.fromkeys((*extra, *task.sensitive))]
        self._places = {s.name: i for i, s in enumerate(self.sensitive)}
        self._attributes = ctx.attributes
        self.by_requirement = [(r.grouping, list[ClassModel](imported(r.classes)(r, self))) for r in task.enforced]
        every = [model for _, models in self.by_requirement for model in models]
        self.k = max((m.k for m in every if isinstance(m, KAnonymous)), default=1)
        self.others = [m for m in every if not isinstance(m, KAnonymous)]

    @property
    def models(self) -> list[ClassModel]:
        """All models."""
        return [*([KAnonymous(self.k)] if self.k > 1 else []), *self.others]

    @property
    def compares(self) -> bool:
        """Whether a model compares with the whole table."""
        return any(model.compares for model in self.others)

    def facts(self, name: str) -> AttributeFacts | None:
        """Return what is known of an attribute."""
        return self._attributes.get(name)

    def place(self, name: str) -> int:
        """Return the place of a sensitive attribute."""
        return self._places[name]

    def codes(self, name: str, values: Sequence[str]) -> tuple[int, ...]:
        """Return the codes of values; one that nothing has, where none of those that are asked does."""
        own = self.sensitive[self.place(name)]
        return tuple(own.place.get(value, own.size) for value in values)

    def add(self, name: str, codes: Codes, size: int) -> int:
        """Add a column of codes."""
        self.sensitive.append(SensitiveCodes(name, codes, size, {}))
        return len(self.sensitive) - 1

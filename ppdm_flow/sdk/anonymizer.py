"""The heavy half of an anonymizer: fit on a view, apply to one partition at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import Chart, Figure, Finding
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.matrix_operator import MATRIX, MatrixOperator, alike_document, alike_of
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class StepContext:
    """The context of a step beside its data. ``home`` is the folder of the policy, for hierarchy files.

    ``declared`` are the values that the policy itself writes, by attribute of the source, and ``show_values`` its
    ``report: {values: show}``: no other values may be named in figures, charts and descriptions. A step that takes
    long calls ``progress`` with the amounts done and in all (None: unknown); it raises where the run ends.
    ``people``: whom the policy counts; None where it counts rows.
    """

    step: str
    attributes: Mapping[str, AttributeFacts]
    requirements: tuple[Requirement, ...]
    nulls: Nulls = Nulls.OWN_CATEGORY
    home: Path = field(default_factory=Path)
    declared: Mapping[str, frozenset[str]] = field(default_factory=dict)
    show_values: bool = False
    progress: Callable[[int, int | None], None] | None = None
    people: PeopleCount | None = None

    def may_show(self, attribute: str, value: str) -> bool:
        """Whether a value of an attribute, by its present name, may be named."""
        facts = self.attributes.get(attribute)
        source = (facts.source or facts.name) if facts else attribute
        return self.show_values or value in self.declared.get(source, frozenset())


class DescribedTransform(Protocol):
    """The description that every transform gives of itself."""

    def describe(self) -> Mapping[str, Any]:
        """Return a small JSON-ready account for the report: no data values that the policy does not declare."""
        ...


@runtime_checkable
class RowTransform(DescribedTransform, Protocol):
    """Small and picklable. The output for a row depends on that row, the fitted state and that row's draws only.

    Partitions come in any order. Several threads call one of our own at once, a transform of another distribution is
    called by one thread at a time. A row's draws are those of its row number, or those that its own cells address
    (`Draws.words_at`).
    """

    @property
    def draws_per_row(self) -> int:
        """A fixed upper bound; 0 for a deterministic transform."""
        ...

    def apply(self, part: Table, draws: Draws) -> Table:
        """Return the partition after the step; rows may be fewer, and keep their source row numbers."""
        ...


@runtime_checkable
class OrderTransform(DescribedTransform, Protocol):
    """Gives each row a key; the engine puts rows in ascending order of (key, row number), out of core."""

    @property
    def draws_per_row(self) -> int:
        """A fixed upper bound."""
        ...

    def keys(self, part: Table, draws: Draws) -> npt.NDArray[np.uint64]:
        """Return one key per row."""
        ...


@runtime_checkable
class TableTransform(DescribedTransform, Protocol):
    """Needs the whole table; may have several named outputs. An output named ``""`` is the step's own."""

    @property
    def draws_per_row(self) -> int:
        """A fixed upper bound."""
        ...

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Return the outputs by name."""
        ...


@runtime_checkable
class Generator(DescribedTransform, Protocol):
    """Makes new rows; ``rows`` are their numbers, from 0."""

    @property
    def draws_per_row(self) -> int:
        """A fixed upper bound."""
        ...

    def generate(self, rows: npt.NDArray[np.int64], draws: Draws) -> Table:
        """Return one partition of generated rows."""
        ...


@runtime_checkable
class SizedGenerator(Generator, Protocol):
    """A generator that says how many rows it makes; others make as many as they learned from."""

    @property
    def row_count(self) -> int:
        """The number of generated rows."""
        ...


Transform = RowTransform | OrderTransform | TableTransform | Generator


@dataclass(frozen=True, slots=True)
class Fitted:
    """The result of ``fit``: the transform, the step's own figures, and what the recipient of a release needs.

    ``artifacts`` are JSON-ready documents by file name (``operator.json``), written beside every release that the
    step feeds. ``internal`` are others, which may hold values: they are written to ``internal/STEP/`` of the run, for
    its owner alone, and never beside a release. ``operators`` and ``set_operators`` hold the channel of each attribute
    that the step randomized, for the audits. ``holdout`` are the rows that a generator did not learn from.
    """

    transform: Transform
    figures: Mapping[str, Figure] = field(default_factory=dict)
    artifacts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    internal: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    operators: Mapping[str, ValueOperator] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    charts: tuple[Chart, ...] = ()
    holdout: Holdout | None = None
    set_operators: Mapping[str, SetOperator] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """A randomization channel in the fine-grain form, on one attribute.

    ``domain`` (m texts; None is the missing value, which is then one more value), ``retention`` p of shape
    (m,): value i stays with probability p_i, else it becomes a uniform draw from all m values (Chaytor and Wang,
    section 3). So P[i -> j] = p_i [i = j] + (1 - p_i)/m. ``step`` is the step that applies it. ``per_person``: where
    rows of one person with equal values draw alike, the most different values of a person that it was made for; None
    where each row draws for itself.
    """

    attribute: str
    domain: tuple[str | None, ...]
    retention: npt.NDArray[np.float64]
    step: str = ""
    per_person: int | None = None

    @property
    def size(self) -> int:
        """M."""
        return len(self.domain)

    @property
    def staying(self) -> npt.NDArray[np.float64]:
        """Return Pr[released i | original i], shape (m,)."""
        return self.retention + (1.0 - self.retention) / self.size

    def matrix(self) -> npt.NDArray[np.float64]:
        """Return P of shape (m, m), P[j, i] = Pr[released j | original i]; columns sum to 1. For small m."""
        m = self.size
        return np.diag(self.retention) + np.broadcast_to((1.0 - self.retention) / m, (m, m))

    def document(self) -> dict[str, Any]:
        """Return the JSON form of ``operator.json``."""
        return {
            "attribute": self.attribute,
            "form": "fine_grain",
            "domain": list(self.domain),
            "retention": [float(p) for p in self.retention],
            **alike_document(self.per_person),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Operator:
        """Read the JSON form. Raises KeyError, TypeError or ValueError where it is none."""
        if document["form"] != "fine_grain":
            raise ValueError("an operator of an unknown form")
        retention = np.asarray(document["retention"], dtype=np.float64)
        domain = tuple(document["domain"])
        if any(not (v is None or isinstance(v, str)) for v in domain) or len(set(domain)) < len(domain):
            raise ValueError("an operator whose domain is not of distinct texts")
        if retention.shape != (len(domain),) or not domain:
            raise ValueError("an operator whose domain and probabilities differ in length")
        if not np.all((retention >= 0) & (retention <= 1)):
            raise ValueError("a retention probability outside [0, 1]")
        return cls(str(document["attribute"]), domain, retention, per_person=alike_of(document))


ValueOperator = Operator | MatrixOperator
"""A randomization channel on single values, in either form."""


def value_operator(document: Mapping[str, Any]) -> ValueOperator:
    """Read the JSON form of either. Raises KeyError, TypeError or ValueError where it is none."""
    made = MatrixOperator if document["form"] == MATRIX else Operator
    return made.from_document(document)


class Anonymizer(Protocol):
    """An algorithm, made from its parameters."""

    def __init__(self, params: Any) -> None: ...

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Look at the data and decide. Raises PluginError, naming the column, where the data is not fit for it."""
        ...

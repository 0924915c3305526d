"""The format of policy tests (``*.test.yaml``) as typed models, in the long form of every key.

Short forms are written out before validation, see :mod:`ppdm_flow.policy.test.shorthand`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ppdm_flow.core.codes import current_code
from ppdm_flow.core.model import Code, Model, Name, ParamName


class PolicyTestTable(Model):
    """Data of a test: one of ``text``, ``rows``, ``csv`` and ``file``.

    ``text`` is what a file would hold, ``rows`` are maps, or lists below a list of names, ``csv`` is a CSV file with a
    header, ``file`` one of the kind that the policy's source reads.
    """

    text: str | None = None
    rows: Annotated[tuple[object, ...], Field(min_length=1)] | None = None
    csv: str | None = None
    file: str | None = None


class ExpectedFigure(Model):
    """A figure: ``equals`` (within ``tolerance``), or at least ``min`` and at most ``max``."""

    equals: float | None = None
    min: float | None = None
    max: float | None = None
    tolerance: Annotated[float, Field(ge=0.0)] | None = None


class ExpectedNames(Model):
    """A set of names: ``exactly`` these; or all of ``include`` and none of ``exclude``."""

    exactly: tuple[str, ...] | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


def _current_codes(some: ExpectedNames | None) -> ExpectedNames | None:
    """Return codes by their names of today."""
    codes = {form: tuple(map(current_code, names)) for form, names in some or () if names}
    return None if some is None else some.model_copy(update=codes)


Codes = Annotated[ExpectedNames | None, AfterValidator(_current_codes)]


class ExpectedSuppression(Model):
    """Values of one column, by where they are suppressed: in some row that has them, in every one, in none."""

    somewhere: tuple[str, ...] = ()
    everywhere: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()


class ExpectedContents(Model):
    """What a released file holds."""

    rows: ExpectedFigure | None = None
    columns: ExpectedNames | None = None
    released_values: dict[str, ExpectedNames] = Field(default_factory=dict)
    suppressed: dict[str, ExpectedSuppression] = Field(default_factory=dict)


class ExpectedResult(ExpectedContents):
    """What comes of a test. Contents are those of the only release; of several, they stand under ``releases``."""

    verdict: Literal["released", "withheld", "held", "refused"] | None = None
    code: Code | None = None
    fails: ExpectedNames | None = None
    holds: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    metrics: dict[str, ExpectedFigure] = Field(default_factory=dict)
    findings: Codes = None
    check: Codes = None
    releases: dict[Name, ExpectedContents] = Field(default_factory=dict)


class PolicyTestCase(Model):
    """One test: a table, values of params, and what is expected.

    ``released`` is judged in place of what the steps would make, as ``release`` where there are several. ``tables`` is
    the data of linked tables.
    """

    description: str = ""
    data: PolicyTestTable | None = None
    tables: dict[Name, PolicyTestTable] = Field(default_factory=dict)
    released: PolicyTestTable | None = None
    release: Name | None = None
    set: dict[ParamName, str] = Field(default_factory=dict)
    repeat: Annotated[int, Field(ge=1, le=1000)] = 1
    expect: ExpectedResult


class CaseFile(Model):
    """Tests of one policy. ``set``, ``data`` and ``tables`` hold for each test that does not say otherwise."""

    description: str = ""
    policy: str
    set: dict[ParamName, str] = Field(default_factory=dict)
    data: PolicyTestTable | None = None
    tables: dict[Name, PolicyTestTable] = Field(default_factory=dict)
    tests: Annotated[dict[Name, PolicyTestCase], Field(min_length=1)]

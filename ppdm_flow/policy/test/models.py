"""The format of policy tests (``*.test.yaml``) as typed models, in the long form of every key.

Short forms are written out before validation, see :mod:`ppdm_flow.policy.test.shorthand`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ppdm_flow.core.codes import current_code
from ppdm_flow.core.model import Code, Model, Name, ParamName


class Table(Model):
    """Data of a test: one of ``text``, ``rows``, ``csv`` and ``file``.

    ``text`` is what a file would hold, ``rows`` are maps, or lists below a list of names, ``csv`` is a CSV file with a
    header, ``file`` one of the kind that the policy's source reads.
    """

    text: str | None = None
    rows: Annotated[tuple[object, ...], Field(min_length=1)] | None = None
    csv: str | None = None
    file: str | None = None


class Figured(Model):
    """A figure: ``equals`` (within ``tolerance``), or at least ``min`` and at most ``max``."""

    equals: float | None = None
    min: float | None = None
    max: float | None = None
    tolerance: Annotated[float, Field(ge=0.0)] | None = None


class Some(Model):
    """A set of names: ``exactly`` these; or all of ``include`` and none of ``exclude``."""

    exactly: tuple[str, ...] | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


def _current_codes(some: Some | None) -> Some | None:
    """Return codes by their names of today."""
    codes = {form: tuple(map(current_code, names)) for form, names in some or () if names}
    return None if some is None else some.model_copy(update=codes)


Codes = Annotated[Some | None, AfterValidator(_current_codes)]


class Hidden(Model):
    """Values of one column, by where they are suppressed: in some row that has them, in every one, in none."""

    somewhere: tuple[str, ...] = ()
    everywhere: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()


class Contents(Model):
    """What a released file holds."""

    rows: Figured | None = None
    columns: Some | None = None
    released_values: dict[str, Some] = Field(default_factory=dict)
    suppressed: dict[str, Hidden] = Field(default_factory=dict)


class Expect(Contents):
    """What comes of a test. Contents are those of the only release; of several, they stand under ``releases``."""

    verdict: Literal["released", "withheld", "held", "refused"] | None = None
    code: Code | None = None
    fails: Some | None = None
    holds: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    metrics: dict[str, Figured] = Field(default_factory=dict)
    findings: Codes = None
    check: Codes = None
    releases: dict[Name, Contents] = Field(default_factory=dict)


class Case(Model):
    """One test: a table, values of params, and what is expected.

    ``released`` is judged in place of what the steps would make, as ``release`` where there are several. ``tables`` is
    the data of linked tables.
    """

    description: str = ""
    data: Table | None = None
    tables: dict[Name, Table] = Field(default_factory=dict)
    released: Table | None = None
    release: Name | None = None
    set: dict[ParamName, str] = Field(default_factory=dict)
    repeat: Annotated[int, Field(ge=1, le=1000)] = 1
    expect: Expect


class CaseFile(Model):
    """Tests of one policy. ``set``, ``data`` and ``tables`` hold for each test that does not say otherwise."""

    description: str = ""
    policy: str
    set: dict[ParamName, str] = Field(default_factory=dict)
    data: Table | None = None
    tables: dict[Name, Table] = Field(default_factory=dict)
    tests: Annotated[dict[Name, Case], Field(min_length=1)]

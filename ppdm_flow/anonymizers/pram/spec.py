"""PRAM: its card, parameters and effect."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.fine_grain_perturbation.spec import recoded
from ppdm_flow.anonymizers.naming import absent, carried, reaches, subject_of
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.lineage import Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.core.texts import canonical
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope

Rows = Mapping[str, Mapping[str, float]]
"""By original value: the released values, each with its probability; what is not there has none."""
LARGEST = 500
"""The most values of an attribute: its matrix has the square of that many entries."""

Row = Annotated[dict[str, Annotated[float, Field(ge=0.0, le=1.0)]], Field(min_length=1)]
_UNFIT = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.SAMPLING_WEIGHT, Role.ITEMS)


# A transition matrix as a policy or a file states it: what can be wrong with it.


UNUSABLE = "PPF885"

SUPPRESSED = "⊥"
_SUMS = 1e-6
"""How far the probabilities of a row may be from 1 together: thirds are written with six digits."""


def faults(rows: Rows, domain: Sequence[str] | None, most: int) -> Iterator[tuple[str, str | None]]:
    """Yield what is wrong, without naming a value, and the row that it is about.

    ``domain`` are the declared values, of which each needs a row; ``most`` is how many rows there may be.
    """
    if len(rows) > most:
        yield f"the matrix has {len(rows):,} values, and at most {most:,} can be used", None
    for value, row in rows.items():
        if SUPPRESSED in (value, *row):
            yield f"`{SUPPRESSED}` marks a suppressed cell and cannot be a value of the matrix", value
        if any(not 0.0 <= p <= 1.0 for p in row.values()):
            yield "a probability of this row lies outside of [0, 1]", value
        elif abs(sum(row.values()) - 1.0) > _SUMS:
            yield f"the probabilities of this row sum to {sum(row.values()):.7g}, not to 1", value
        if any(released not in rows for released in row):
            yield "this row releases a value that has no row of its own", value
        if domain is not None and value not in domain:
            yield "this row is about a value that the attribute's `domain` does not have", value
    lacking = [v for v in domain or () if v not in rows]
    if lacking:
        yield f"values of the attribute's `domain` without a row: {len(lacking)} of {len(domain or ())}", None


def read_matrix(path: Path, delimiter: str) -> Rows:
    """Read lines ``original,released,probability`` from a CSV file in UTF-8 without a header.

    Raises PluginError with the number of the first line that is none.
    """
    rows: dict[str, dict[str, float]] = {}
    try:
        stream = io.StringIO(read_definition(path).decode("utf-8-sig"), newline="")
        for number, fields in enumerate(csv.reader(stream, delimiter=delimiter, strict=True), start=1):
            if fields:
                _add(rows, fields, f"{path.name}, line {number}")
    except OSError as error:
        raise unusable(f"{path.name} cannot be read: {error.strerror or 'no reason given'}") from None
    except UnicodeDecodeError:
        raise unusable(f"{path.name} is not UTF-8 text") from None
    except csv.Error:
        raise unusable(f"{path.name} is not a CSV file") from None
    if not rows:
        raise unusable(f"{path.name} has no line")
    return rows


def _add(rows: dict[str, dict[str, float]], fields: list[str], place: str) -> None:
    if len(fields) != 3:  # original, released, probability
        raise unusable(f"{place}: {len(fields)} fields instead of the three `original,released,probability`")
    original, released, text = fields
    try:
        probability = float(text)
    except ValueError:
        raise unusable(f"{place}: the third field is not a number") from None
    row = rows.setdefault(original, {})
    if released in row:
        raise unusable(f"{place}: this pair of values stands in an earlier line already")
    row[released] = probability


def unusable(message: str) -> PluginError:
    """Return the error for a matrix that cannot be used."""
    return PluginError(Diagnostic(UNUSABLE, message))


class PramParams(Params):
    """Parameters: the attributes to randomize (default: all with a ``sensitivities`` requirement), and the matrix.

    One of ``matrix`` (original value -> released value -> probability), ``matrix_file``, ``retain`` and ``posterior``;
    without any the matrix is the best one under ``privacy.sensitivities``.
    """

    attribute: str | None = None
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    matrix: Annotated[dict[str, Row], Field(min_length=1)] | None = None
    matrix_file: FilePath | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    retain: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    spread: Literal["uniform", "frequency"] = "uniform"
    invariant: bool = False
    optimum: Literal["fine_grain", "general"] = "fine_grain"
    posterior: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None

    @property
    def named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The attributes that the parameters name, each with its place in them."""
        one = ((self.attribute, ("attribute",)),) if self.attribute is not None else ()
        return (*one, *((a, ("attributes", str(i))) for i, a in enumerate(self.attributes or ())))

    @property
    def derived(self) -> bool:
        """Whether the matrix follows from the requirements."""
        return not self.ways

    @property
    def ways(self) -> tuple[str, ...]:
        """The parameters that say which matrix."""
        return tuple(n for n in ("matrix", "matrix_file", "retain", "posterior") if getattr(self, n) is not None)

    @property
    def by_frequency(self) -> bool:
        """Whether the matrix is made from how often each value occurs."""
        return self.invariant or self.posterior is not None or (self.retain is not None and self.spread == "frequency")

    def chosen(self, requirements: tuple[Sensitivity, ...]) -> tuple[str, ...]:
        """Return the attributes to randomize, each once."""
        names = [a for a, _ in self.named] or [r.attribute for r in requirements]
        return tuple(dict.fromkeys(names))


def effect(params: PramParams, scope: Scope) -> Effect:
    """Randomize the chosen attributes; serve their ``sensitivities``."""
    wanted = carried(Sensitivity, scope.requirements, scope.attributes)
    chosen = params.chosen(wanted)
    domains = {r.attribute: r.domain for r in wanted}
    served = tuple(r.id for r in wanted if r.attribute in chosen)
    problems = [*_contradictions(params), *_names(params, scope, wanted), *_fitness(params, chosen, scope)]
    problems += recoded(wanted, chosen, scope) if params.derived else _stated(params, chosen, scope)
    subject = subject_of(scope.attributes)
    whose = "in any row" if subject is None else "of any person"
    return Effect(
        reads=chosen if subject is None else (*chosen, subject),
        changes=dict.fromkeys(chosen, Change.PERTURBED),
        numbers=tuple(name for name in chosen if _stays_numbers(params, scope.attributes.get(name), domains.get(name))),
        derivations=changed_in_place(chosen, Derivation((), drawn=True)),
        serves=served,
        guarantee=f"no (r1, r2) breach {whose}, for any prior" if served and params.derived else "",
        tells_frequencies=chosen if params.by_frequency else (),
        problems=tuple(problems),
    )


def _stays_numbers(params: PramParams, facts: AttributeFacts | None, bounded: tuple[str | None, ...] | None) -> bool:
    """Whether each value that may be released is a number of the attribute's type; what a file says is not known."""
    if facts is None or not facts.is_numeric or params.matrix_file is not None:
        return False
    stated = [value for row in (params.matrix or {}).values() for value in row]
    domain = declared(facts) or bounded or ()
    return all(value is None or canonical(value, facts.type) == value for value in (*stated, *domain))


def _contradictions(params: PramParams) -> Iterator[Problem]:
    if params.attribute is not None and params.attributes is not None:
        yield Problem("PPF782", "give `attribute` or `attributes`, not both", ("attribute",))
    given = params.ways
    if len(given) > 1:
        yield Problem("PPF782", f"give one of {' and '.join(f'`{n}`' for n in given)}", (given[1],))
    said = params.model_fields_set
    if "spread" in said and params.retain is None:
        yield Problem("PPF782", "`spread` says what becomes of what `retain` does not keep: give `retain`", ("spread",))
    if params.invariant and given in ((), ("posterior",)):
        text = "an invariant matrix is made of another one: give `matrix`, `matrix_file` or `retain`"
        yield Problem("PPF782", text, ("invariant",))
    if "optimum" in said and not params.derived:
        text = f"the matrix is given by `{given[0]}`: leave it or `optimum` out"
        yield Problem("PPF782", text, ("optimum",))


def _names(params: PramParams, scope: Scope, wanted: tuple[Sensitivity, ...]) -> Iterator[Problem]:
    if not params.named and not wanted:
        yield Problem("PPF780", "nothing to randomize: give `attribute`, or bound one by `privacy.sensitivities`")
    for name, path in params.named:
        if not reaches(name, scope.attributes):
            yield absent(name, scope.attributes, path)
        elif params.derived and name not in {r.attribute for r in wanted}:
            text = f"`privacy.sensitivities` says nothing about `{name}`"
            yield Problem("PPF780", text, path, "say how by `retain` or `matrix`")


def _fitness(params: PramParams, chosen: tuple[str, ...], scope: Scope) -> Iterator[Problem]:
    places = dict(params.named)
    for name in chosen:
        fact = scope.attributes.get(name)
        if fact is not None and fact.role in _UNFIT:
            text = f"`{name}` is no category: a column with `role: {fact.role}` has no transition matrix"
            yield Problem(UNUSABLE, text, places.get(name, ()))


def _stated(params: PramParams, chosen: tuple[str, ...], scope: Scope) -> Iterator[Problem]:
    if params.retain is None and params.posterior is None and len(chosen) > 1:
        text = "one matrix is for one attribute: give each a step of its own"
        yield Problem("PPF782", text, ("attributes",) if params.attributes else ())
    if params.matrix is not None and len(chosen) == 1:
        for text, row in faults(params.matrix, declared(scope.attributes.get(chosen[0])), LARGEST):
            yield Problem(UNUSABLE, text, ("matrix",) if row is None else ("matrix", row), named=row is not None)


def declared(facts: AttributeFacts | None) -> tuple[str, ...] | None:
    """Return the declared domain, where the attribute still has the values of the source."""
    return None if facts is None or facts.changes else facts.domain


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/pram",
        Kind.ROW_WISE,
        serves=("sensitivities",),
        randomized=True,
        asks=AccessRequirements(DataAccess.COUNTS, passes=1),
    ),
    params=PramParams,
    algorithm="ppdm_flow.anonymizers.pram.algorithm:Pram",
    effect=effect,
)

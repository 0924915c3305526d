"""Where a person has several rows: those with equal values draw alike, and the bound is spent over different values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws, Words
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Codes, Column
from ppdm_flow.tables.table import Table

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ValuesOfPeople:
    """``most`` is the largest number of different values of a person, None where each row is a person.

    ``share`` (m,) are the shares of the values, where rows of one person with an equal value count once: a person with
    many rows makes no value frequent.
    """

    most: int | None
    share: Floats


def values_of_people(data: DataView, subject: str | None, attribute: str, counted: DomainCounts) -> ValuesOfPeople:
    """Count an attribute's values by person, over the domain of ``counted``; a missing value is one more.

    Raises PluginError where a row belongs to nobody.
    """
    if subject is None:
        return ValuesOfPeople(None, counted.frequency)
    pairs = data.counts([subject, attribute])
    people = pairs.of(subject)
    _refuse_nobody(people, subject)
    names = [*pairs.names(attribute).to_pylist(), None]  # a missing value has code -1
    place = {value: i for i, value in enumerate(counted.domain)}
    at = np.array([place.get(name, -1) for name in names], dtype=np.int64)[pairs.of(attribute)]
    own = DomainCounts(counted.domain, np.bincount(at[at >= 0], minlength=len(counted.domain)))
    return ValuesOfPeople(int(np.bincount(people).max(initial=1)), own.frequency)


def shared_slack(slack: Floats, most: int | None) -> Floats:
    """Return gamma - 1 of each value, shape (m,), for people with up to ``most`` different values.

    For one value it is ``slack`` as it is. For n > 1 it is g - 1 for every value, also one without a bound, where
    g = (the smallest gamma)^(1/n): each of a person's n draws multiplies the odds of any two hypotheses about all of
    its values by at most g, for every joint prior of these values, so all draws by at most g^n. A root of each value's
    own gamma would not do: among unbounded values, one draw may then reveal all of another value, which a prior can tie
    to the bounded one.
    """
    least = float(slack.min(initial=np.inf))
    if most is None or most <= 1 or not np.isfinite(least):
        return slack
    return np.full(len(slack), np.expm1(np.log1p(least) / most))


def words_of(part: Table, draws: Draws, operator: ValueOperator, codes: Codes, subject: str, width: int) -> Words:
    """Return words, shape (rows, ``width``), by subject and value: ``codes`` (rows,) are places in the domain.

    Raises PluginError where a row belongs to nobody.
    """
    people = part[subject]
    _refuse_nobody(people.codes, subject)
    names, own = _in_use(people)
    texts = draws.addresses("subject", names)[own]
    values = draws.addresses(f"value of {operator.attribute}", operator.domain)
    return draws.words_at(texts ^ values[codes], width)


def _in_use(column: Column) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Return the texts that occur, and the position of each row's among them."""
    used, own = np.unique(column.codes, return_inverse=True)
    return column.categories.take(used).to_pylist(), own


def _refuse_nobody(codes: Codes, subject: str) -> None:
    if codes.min(initial=0) >= 0:
        return
    what = "suppressed" if codes.min() == SUPPRESSED else "missing"
    text = f"the column `{subject}` says whose row it is, and is {what} in a row: it cannot draw as the person's others"
    raise PluginError(Diagnostic("PPF785", text))


# How often each value of an attribute occurs, over its declared domain or over those that occur.


@dataclass(frozen=True, slots=True, eq=False)
class DomainCounts:
    """The domain of an attribute, and how often each of its values occurs.

    ``domain`` has m texts, and None last where values are missing; ``counts`` int64 of shape (m,).
    """

    domain: tuple[str | None, ...]
    counts: npt.NDArray[np.int64]

    @property
    def frequency(self) -> npt.NDArray[np.float64]:
        """Shares of all rows; even ones where there are no rows."""
        total = int(self.counts.sum())
        return self.counts / total if total else np.full(len(self.counts), 1.0 / len(self.counts))


def histogram_of(
    data: DataView, name: str, declared: tuple[str, ...] | None, of_what: str = "of its declared domain"
) -> DomainCounts:
    """Count an attribute's values over its ``declared`` domain, else over those that occur.

    Raises PluginError for suppressed cells, for values outside the declared domain, and for an empty domain.
    """
    counted = data.counts([name])
    codes = counted.of(name)
    if (codes == SUPPRESSED).any():
        cells = int(counted.counts[codes == SUPPRESSED].sum())
        raise PluginError(
            Diagnostic(
                "PPF783",
                f"the column `{name}` has {cells} suppressed cells: there is nothing to perturb in them",
                help="perturb before the step that suppresses values of this attribute",
            )
        )
    names = counted.names(name).to_pylist()
    occurring = {names[c]: int(n) for c, n in zip(codes.tolist(), counted.counts.tolist(), strict=True) if c >= 0}
    domain: list[str | None] = list(_domain(name, declared, occurring, of_what))
    totals = [occurring.get(value, 0) for value in domain if value is not None]
    if (codes == MISSING).any():
        domain.append(None)
        totals.append(int(counted.counts[codes == MISSING].sum()))
    if not domain:
        raise PluginError(Diagnostic("PPF785", f"the column `{name}` has no values, and declares no `domain`"))
    return DomainCounts(tuple(domain), np.array(totals, dtype=np.int64))


def _domain(name: str, declared: tuple[str, ...] | None, occurring: dict[str, int], of_what: str) -> list[str]:
    """The domain in the order of UTF-8 text: an order of the policy or of the data would say more than the values."""
    if declared is None:
        return _in_order(set(occurring))
    outside = set(occurring) - set(declared)
    if outside:
        rows = sum(occurring[v] for v in outside)
        text = f"the column `{name}` has {len(outside)} values outside {of_what}, in {rows} rows"
        raise PluginError(Diagnostic("PPF785", text))
    return _in_order(set(declared))


def _in_order(values: set[str]) -> list[str]:
    return sorted(values, key=str.encode)

"""What two released files reveal together.

Joined by the key they share, a person's row stands beside every value of the class. The largest share of a value bounds
what is learned of a member, as long as nothing but the key connects the files. Their order may connect them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from ppdm_flow.audits.multisets import expected_hits
from ppdm_flow.audits.rejoin.spec import RejoinParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted, sibling
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table, concat

NAMES = ("posterior_bound", "guessed", "guessed_without", "linked_by_order", "same_order")
COUNTS = ("classes", "joined_tuples", "spurious_tuples", "rows_alone", "homogeneous_rows")
EDGES = tuple(i / 10 for i in range(11))
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Key = str | int


class RejoinAudit:
    """Joins, guesses, and looks at the order."""

    def __init__(self, params: RejoinParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the bound by class, the tuples of the join, and how often two attacks are right."""
        other, key = ctx.siblings.get(self.params.other), self.params.key
        if other is None:
            return _nothing(f"there is no release `{self.params.other}` beside this one")
        if key not in candidate.schema or key not in other.schema:
            return _nothing(f"not both files have `{key}`")
        sensitive = self._sensitive(other)
        if not sensitive or not candidate.row_count or not other.row_count:
            return _nothing("there is nothing to guess")
        by_name = {name: posteriors(other, key, name) for name in sensitive}
        joined = join(candidate, other, key)
        figures = _figures(joined, by_name)
        figures |= _guesses(original, other, key, sensitive, ctx)
        order = same_order(candidate, other, key)
        figures |= _by_order(original, candidate, other, sensitive, ctx)
        findings = []
        if order is not None:
            note = f"by chance {order.chance:.3g}"
            figures["same_order"] = Figure(order.matches / order.rows, "share", note=note)
            findings += [_ordered(self.params.other, ctx)] if order.alarming else []
        else:
            figures["same_order"] = Figure(None, "share", note="the files have unlike numbers of rows")
        findings += [_homogeneous(n, p, self.params.other, ctx) for n, p in by_name.items() if p.homogeneous]
        charts = tuple(_chart(name, p) for name, p in by_name.items())
        return AuditOutcome(figures, findings=tuple(findings), charts=charts)

    def recheck(self, _original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Join again, in SQL, the released files themselves."""
        other = ctx.siblings.get(self.params.other)
        weighted = other is None or candidate.schema.weight is not None or other.schema.weight is not None
        if other is None or weighted or ctx.sql is None or self.params.key not in candidate.schema:
            return {}
        if self.params.key not in other.schema or not candidate.row_count or not other.row_count:
            return {}
        names = self._sensitive(other)
        return figures_by_sql(ctx.sql, self.params.other, self.params.key, names) if names else {}

    def _sensitive(self, other: DataView) -> tuple[str, ...]:
        chosen = self.params.sensitive
        names = (n for n in other.schema.names if n not in (self.params.key, other.schema.weight))
        return tuple(n for n in names if chosen is None or n in chosen)


def _figures(joined: JoinSizes, by_name: Mapping[str, JoinedPosteriors]) -> dict[str, Figure]:
    worst = max((p.bound for p in by_name.values() if p.bound is not None), default=None)
    note = "the largest share of a value within a class: the belief of a reader who knows a person's class"
    figures = {
        "posterior_bound": Figure(worst, "probability", note=note),
        "classes": Figure(len(joined.mine), "classes"),
        "joined_tuples": Figure(joined.tuples, "rows"),
        "spurious_tuples": Figure(joined.spurious, "rows", note="rows of the join that are of no person"),
        "rows_alone": Figure(joined.alone, "rows", note="rows of a class that the other file does not have"),
        "homogeneous_rows": Figure(sum(p.homogeneous for p in by_name.values()), "rows"),
    }
    if len(by_name) > 1:
        figures |= {f"{n}.posterior_bound": Figure(p.bound, "probability", note=note) for n, p in by_name.items()}
    return figures


def _guesses(
    original: DataView, other: DataView, key: str, sensitive: tuple[str, ...], ctx: AuditContext
) -> dict[str, Figure]:
    """Guess for each person the likeliest value of the class, and look the truth up."""
    guesses = [g for name in sensitive if (g := _guess(original, other, key, name, ctx)) is not None]
    if not guesses:
        why = "the truth cannot be looked up: rows cannot be paired, or values were changed"
        return {n: Figure(None, "share", note=why) for n in ("guessed", "guessed_without")}
    right, plain = max(guesses)
    return {
        "guessed": Figure(right, "share", note="people whose value is guessed by joining the files"),
        "guessed_without": Figure(plain, "share", note="people whose value is guessed as the most frequent of all"),
    }


def _guess(original: DataView, other: DataView, key: str, name: str, ctx: AuditContext) -> tuple[float, float] | None:
    if not _comparable(original, other, name) or ctx.pairs is None or key not in ctx.attributes:
        return None
    counts = other.counts([key, name])
    likeliest: dict[str, str] = {}
    names, classes = counts.names(name).to_pylist(), counts.names(key).to_pylist()
    for i in np.argsort(counts.counts, kind="stable").tolist():  # the most frequent of a class is written last
        if counts.codes[i, 0] >= 0 and counts.codes[i, 1] >= 0:
            likeliest[classes[counts.codes[i, 0]]] = names[counts.codes[i, 1]]
    truth = ctx.pairs.joint(name, key)
    values, groups = truth.names("original").to_pylist(), truth.names("released").to_pylist()
    right = sum(
        int(n)
        for (value, group), n in zip(truth.codes.tolist(), truth.counts.tolist(), strict=True)
        if value >= 0 and group >= 0 and likeliest.get(groups[group]) == values[value]
    )
    overall = np.bincount(truth.codes[:, 0] + 2, weights=truth.counts)
    return (right / truth.total, float(overall.max()) / truth.total) if truth.total else None


def _comparable(original: DataView, other: DataView, name: str) -> bool:
    """Whether the other file has values of the original itself."""
    if name not in original.schema:
        return False
    return set(other.domain(name).to_pylist()) <= set(original.domain(name).to_pylist())


def _by_order(
    original: DataView, candidate: DataView, other: DataView, sensitive: tuple[str, ...], ctx: AuditContext
) -> dict[str, Figure]:
    known = [n for n in sensitive if _comparable(original, other, n)]
    links = [s for n in known if (s := linked(candidate, other, n, n, ctx)) is not None]
    note = "people whose value is guessed right by laying the files side by side" if links else ""
    why = note or "the truth cannot be looked up: rows cannot be paired, or values were changed"
    return {"linked_by_order": Figure(max(links, default=None), "share", note=why)}


def _ordered(other: str, ctx: AuditContext) -> Finding:
    text = (
        f"release `{other}` has its rows in the order of this one, or in an order that goes with it: laid side by side"
        " the files join without a key"
    )
    return Finding("PPF887", Severity.WARNING, text, f"{ctx.release}.{other}")


def _homogeneous(name: str, classes: JoinedPosteriors, other: str, ctx: AuditContext) -> Finding:
    text = (
        f"{counted(classes.homogeneous, 'row')} of release `{other}` are in classes with one value of `{name}`: a"
        " reader who knows that a person is in such a class knows the value"
    )
    return Finding("PPF889", Severity.WARNING, text, f"{ctx.release}.{other}.{name}")


def _chart(name: str, classes: JoinedPosteriors) -> Chart:
    place = np.clip(np.ceil(classes.shares * 10 - 1e-9).astype(np.int64) - 1, 0, 9)
    rows = np.bincount(place, weights=classes.sizes, minlength=10)
    labels = tuple(f"{10 * i}–{10 * (i + 1)} %" for i in range(10))
    series = (FigureSeries("rows", tuple(float(r) for r in rows)),)
    title = f"Rows by the belief in the likeliest `{name}` of their class"
    return Chart(f"posterior_{name}", title, "bars", labels, series, "largest share in the class", "rows")


def _nothing(why: str) -> AuditOutcome:
    shares = {n: Figure(None, "share", note=why) for n in NAMES}
    return AuditOutcome({**shares, **{n: Figure(None, "rows", note=why) for n in COUNTS}})


# Two tables joined by a key from counts alone, and the attack that pairs their rows by order.


ERROR = 1e-6
"""The probability that two files in independent random orders raise the alarm."""


@dataclass(frozen=True, slots=True, eq=False)
class JoinSizes:
    """Of each class that both files have: its rows in this file and in the other, ``mine`` and ``theirs``, (classes,).

    ``alone`` counts the rows of either file whose class the other one does not have.
    """

    mine: Integers
    theirs: Integers
    alone: int

    @property
    def tuples(self) -> int:
        """The rows of the join."""
        return int((self.mine * self.theirs).sum())

    @property
    def spurious(self) -> int:
        """The rows of the join that can be of no person: each person is one tuple of the class at most."""
        return self.tuples - int(np.minimum(self.mine, self.theirs).sum())


def join(mine: DataView, theirs: DataView, key: str) -> JoinSizes:
    """Count both sides of each class."""
    own, other = _sizes(mine.counts([key])), _sizes(theirs.counts([key]))
    both = sorted(own.keys() & other.keys(), key=str)
    left = np.array([own[k] for k in both], dtype=np.int64)
    right = np.array([other[k] for k in both], dtype=np.int64)
    alone = sum(own.values()) + sum(other.values()) - int(left.sum() + right.sum())
    return JoinSizes(left, right, alone)


def _sizes(counts: Counts) -> dict[Key, int]:
    """Return the rows of each class; special cells are numbers here, so that no text is confused with them."""
    names = counts.names(counts.columns[0]).to_pylist()
    codes = counts.codes[:, 0].tolist()
    return {names[c] if c >= 0 else c: n for c, n in zip(codes, counts.counts.tolist(), strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class JoinedPosteriors:
    """Of each class of the other file its rows and the rows of its most frequent value, shape (classes,)."""

    sizes: Integers
    largest: Integers

    @property
    def shares(self) -> Floats:
        """The belief in the likeliest value of somebody known to be in the class."""
        shares: Floats = self.largest / self.sizes
        return shares

    @property
    def bound(self) -> float | None:
        """The largest share of all classes."""
        return float(self.shares.max()) if len(self.sizes) else None

    @property
    def homogeneous(self) -> int:
        """The rows of classes that have one value only."""
        return int(self.sizes[self.sizes == self.largest].sum())


def posteriors(theirs: DataView, key: str, sensitive: str) -> JoinedPosteriors:
    """Count the values of each class."""
    counts = theirs.counts([key, sensitive])
    groups, number = counts.groups([key])
    sizes, largest = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    np.add.at(sizes, groups, counts.counts)
    np.maximum.at(largest, groups, counts.counts)
    occurs = sizes > 0
    return JoinedPosteriors(sizes[occurs], largest[occurs])


@dataclass(frozen=True, slots=True)
class SameOrder:
    """The attack by order: the n-th row of one file and the n-th row of the other.

    ``matches`` of ``rows`` places have one class in both files, where ``chance`` would be the share by chance.
    """

    rows: int
    matches: int
    chance: float

    @property
    def alarming(self) -> bool:
        """Whether chance would hardly do it."""
        return self.rows > 0 and float(binom.sf(self.matches - 1, self.rows, self.chance)) < ERROR


def same_order(mine: DataView, theirs: DataView, key: str) -> SameOrder | None:
    """Compare the classes place by place; None where the files have unlike numbers of rows, or none."""
    if mine.row_count != theirs.row_count or not mine.row_count:
        return None
    both = concat([mine.table([key]), theirs.table([key])])[key]
    left, right = both.dense[: mine.row_count], both.dense[mine.row_count :]
    sizes = [np.bincount(part, minlength=both.width).astype(np.float64) for part in (left, right)]
    rows = len(left)
    return SameOrder(rows, int((left == right).sum()), float((sizes[0] * sizes[1]).sum()) / rows**2)


def linked(mine: DataView, theirs: DataView, sensitive: str, source: str, ctx: AuditContext) -> float | None:
    """Return the share of people whose value is right at the place in the other file that their row has in this one.

    A person is known by all that this file says; of several alike one is taken at random.
    None where original and released rows cannot be paired, or the files have unlike numbers of rows.
    """
    if ctx.pairs is None or mine.row_count != theirs.row_count or not mine.row_count:
        return None
    names = [n for n in mine.schema.names if n != sensitive]
    here, there = mine.table(names), theirs.table([sensitive])
    guessed = Table({**here.columns, "\0guess": there[sensitive]}, here.rows)
    parts = [
        Table({**after.columns, "\0guess": before[source]}, after.rows)
        for before, after in ctx.pairs.pairs([source], names)
    ]
    return expected_hits(guessed, concat(parts), "\0guess") / len(guessed) if parts else None


def figures_by_sql(sql: Sql, other: str, key: str, names: Sequence[str]) -> Mapping[str, float | int | None]:
    """Return the figures of the join and the largest share within a class; cells that are missing join too."""
    there, by = quoted(sibling(other)), quoted(key)
    query = f"""
        WITH mine AS (SELECT {by} AS k, COUNT(*) AS n FROM candidate GROUP BY {by}),
             theirs AS (SELECT {by} AS k, COUNT(*) AS n FROM {there} GROUP BY {by})
        SELECT COALESCE(SUM(a.n * b.n), 0), COALESCE(SUM(a.n * b.n - LEAST(a.n, b.n)), 0)
        FROM mine a JOIN theirs b ON a.k IS NOT DISTINCT FROM b.k"""  # noqa: S608  # identifiers are quoted
    tuples, spurious = sql.rows(query)[0]
    bounds = [_bound(sql, there, by, quoted(name)) for name in names]
    return {"joined_tuples": int(tuples), "spurious_tuples": int(spurious), "posterior_bound": max(bounds)}


def _bound(sql: Sql, there: str, by: str, name: str) -> float:
    query = f"""
        WITH cells AS (SELECT {by} AS k, {name} AS v, COUNT(*) AS n FROM {there} GROUP BY ALL)
        SELECT MAX(share) FROM (SELECT MAX(n) / SUM(n) AS share FROM cells GROUP BY k)"""  # noqa: S608  # the same
    return float(sql.rows(query)[0][0])

"""People whom two releases together tell apart, though neither does alone.

An adversary who knows a person's values finds the class in this release and the classes in the other that fit. The
person is one of those in both: fewer than in either, and with a sensitive value that both classes have. Both may be
k-anonymous and l-diverse (Sweeney 2002, complementary release and temporal attack; Ganta and others, KDD 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import special

from ppdm_flow.audits.complementary_release.spec import ComplementaryReleaseParams
from ppdm_flow.audits.labels.file import KnownTable, known_columns, read
from ppdm_flow.audits.labels.joining import look_up
from ppdm_flow.audits.labels.released import CountableRows, ReleasedClasses, classes, hierarchy_of
from ppdm_flow.audits.labels.unreadable import UnreadableLabels, gate_nothing, of_release
from ppdm_flow.audits.records.columns import quasi_identifiers, truthful
from ppdm_flow.audits.records.proportions import ALARM
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import released, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import SPECIALS, union
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.table import Table

UNITS = {
    "k": "people", "k_alone": "people", "rows_below": "rows", "groups": "groups", "matched": "share",
    "certain": "share", "certain_alone": "share",
}  # fmt: skip
NO_PAIRS = "nobody knows whose row is whose: rows cannot be paired with the original"
NO_COLUMNS = "the other release has none of the quasi-identifiers"
NO_SECRETS = "the two releases have no sensitive attribute in common"

_EDGES = (1, 2, 5, 10, 50, 100)
_NAMES = ("1", "2 to 4", "5 to 9", "10 to 49", "50 to 99", "100 or more")
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


def findings(
    people: Intersections,
    here: ReleasedClasses,
    learned_values: Mapping[str, CommonValues],
    params: ComplementaryReleaseParams,
    ctx: AuditContext,
) -> tuple[Finding, ...]:
    """Return what a reader should know: groups that only both releases make small, and values that only both tell."""
    if not truthful(here.columns, ctx):
        return ()
    subject = f"{ctx.release}.complementary_release.{params.other}"
    texts = [*_small(people, here, params.k, subject), *_certain_values(learned_values, people, subject, ctx)]
    return tuple(Finding("PPF899", Severity.WARNING, text, name) for text, name in texts)


def _small(people: Intersections, here: ReleasedClasses, k: int, subject: str) -> Iterator[tuple[str, str]]:
    size, alone = people.sizes[people.group], here.rows[people.here]
    narrowed = (size < k) & (size < alone)
    rows = int(people.persons[narrowed].sum())
    if rows:
        text = (
            f"this and the other release together leave {rows:,} of {counted(people.total, 'row')} in groups of fewer"
            f" than {k:,} people, the smallest with {int(size[narrowed].min()):,}; the smallest class of this release"
            f" alone has {int(here.rows.min()):,}"
        )
        yield text, subject


def _certain_values(
    learned_values: Mapping[str, CommonValues], people: Intersections, subject: str, ctx: AuditContext
) -> Iterator[tuple[str, str]]:
    for secret, one in learned_values.items():
        if one.alarming and truthful((secret,), ctx):
            text = (
                f"`{secret}` becomes certain for {one.new:,} of {counted(people.total, 'row')}: the classes of both"
                f" releases have but one value in common, and for {one.right:,} it is the true one"
            )
            yield text, f"{subject}.{secret}"


def chart(here: ReleasedClasses, people: Intersections) -> Chart:
    """Return bars: rows by how many people are left, in this release alone and in both."""
    sides = ((here.rows[people.here], "this release alone"), (people.sizes[people.group], "both releases"))
    series = []
    for size, name in sides:
        place = np.searchsorted(_EDGES, size, side="right") - 1
        rows = np.bincount(place, people.persons, len(_EDGES))
        series.append(FigureSeries(name, tuple(rows.tolist())))
    return Chart(
        id="groups",
        title="Rows by the people whom their values leave",
        kind="bars",
        x=_NAMES,
        series=tuple(series),
        x_label="people",
        y_label="rows",
        note="people left with few others are found",
    )


@dataclass(frozen=True, slots=True)
class _Other:
    """The rows of the other release, under this release's names."""

    table: Table

    def counts(self, columns: Sequence[str]) -> Counts:
        """Count its combinations."""
        return count(self.table, columns)


class ComplementaryReleaseAudit:
    """Intersects the classes of both."""

    def __init__(self, params: ComplementaryReleaseParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest group that both leave, and for whom a value is certain."""
        secrets = (
            candidate.schema.having(Role.SENSITIVE)
            if self.params.sensitive is None
            else released(self.params.sensitive, candidate, ctx)
        )
        chosen = quasi_identifiers(self.params.attributes, candidate, ctx)
        columns = tuple(c for c in chosen if c not in secrets)
        other, known, common = self._read(columns, secrets, original, ctx)
        if not known:
            return _nothing(NO_COLUMNS)
        if ctx.pairs is None or original.schema.weight is not None:
            return _nothing(NO_PAIRS)
        here, there = classes(candidate, columns, common), classes(other, known, common)
        people = intersections(here, there, ctx.pairs, ctx)
        if people is None:
            return _nothing("there are no rows")
        learned_values = {s: common_values(i, people, here, there, candidate, other) for i, s in enumerate(common)}
        figures = _sizes(here, people, self.params.k) | _values(learned_values, people.total)
        texts = findings(people, here, learned_values, self.params, ctx)
        outcome = AuditOutcome(figures, findings=texts, charts=(chart(here, people),))
        unread = [_unread(c, labels, original, ctx) for c, labels in zip(known, there.categories, strict=True)]
        return gate_nothing(outcome, unread, ctx, "complementary_release")

    def _read(
        self, columns: Sequence[str], secrets: Sequence[str], original: DataView, ctx: AuditContext
    ) -> tuple[_Other, tuple[str, ...], tuple[str, ...]]:
        """Return the other release, which quasi-identifiers it tells (left out here or not), and which secrets."""
        file = KnownTable(ctx.home / self.params.other, self.params.delimiter, self.params.columns)
        here = {source_of(c, ctx) for c in columns}
        gone = (
            []
            if self.params.attributes
            else [n for n in original.schema.having(Role.QUASI_IDENTIFIER) if n not in here]
        )
        wanted = [(c, source_of(c, ctx)) for c in (*columns, *gone, *secrets)]
        known = known_columns(file, [(c, s) for c, s in wanted if s in original.schema])
        names = tuple(c for c in (*columns, *gone) if c in known)
        return _Other(read(file, known)), names, tuple(s for s in secrets if s in known)


def _unread(column: str, labels: pa.StringArray, original: DataView, ctx: AuditContext) -> UnreadableLabels | None:
    """Return what nobody can read of the other release."""
    strange = of_release(column, labels, original.domain(source_of(column, ctx)), hierarchy_of(column, ctx), ctx)
    return strange and replace(strange, where="the other release")


def _sizes(here: ReleasedClasses, people: Intersections, k: int) -> dict[str, Figure]:
    sizes = people.sizes
    return {
        "k": Figure(int(sizes.min()), "people"),
        "k_alone": Figure(int(here.rows.min()), "people"),
        "rows_below": Figure(int(sizes[sizes < k].sum()), "rows"),
        "groups": Figure(len(sizes), "groups"),
        "matched": Figure(int(people.persons[people.fits > 0].sum()) / people.total, "share"),
    }


def _values(learned_values: dict[str, CommonValues], total: int) -> dict[str, Figure]:
    if not learned_values:
        return {n: Figure(None, "share", note=NO_SECRETS) for n in ("certain", "certain_alone")}
    each = {f"{s}.certain": Figure(one.certain / total, "share") for s, one in learned_values.items()}
    return each | {
        "certain": Figure(max(one.certain for one in learned_values.values()) / total, "share"),
        "certain_alone": Figure(max(one.alone for one in learned_values.values()) / total, "share"),
    }


def _nothing(why: str) -> AuditOutcome:
    return AuditOutcome({name: Figure(None, unit, note=why) for name, unit in UNITS.items()})


# People by their classes in two releases, and the sensitive values that both classes have in common.


_ALL = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Intersections:
    """Kinds of released people: ``persons`` of each, their class ``here``, their ``group`` of both releases.

    ``there`` is the one class of the other release that fits them, -1 where none or several do; ``fits`` says how many.
    ``values`` (secrets, kinds) are the codes of their released secrets.
    """

    persons: Integers
    here: Integers
    there: Integers
    fits: Integers
    group: Integers
    values: Integers

    @property
    def sizes(self) -> Integers:
        """The people of each group."""
        return np.bincount(self.group, self.persons).astype(np.int64)

    @property
    def total(self) -> int:
        """All released people."""
        return int(self.persons.sum())


def intersections(
    here: ReleasedClasses, there: ReleasedClasses, pairs: PairedView, ctx: AuditContext
) -> Intersections | None:
    """Look up in ``there`` the original values of everybody in ``here``; None where there are no rows."""
    known = [f"\0{i}" for i in range(len(there.columns))]
    both = _counted(here, there.columns, known, pairs, ctx)
    if both is None:
        return None
    people = both.project(known)
    kind = _places(both, known)
    fits, first, signature = _looked_up(people, there, ctx)
    single = np.where(fits == 1, first, -1)
    mine = here.places(both.project([*here.columns]))[_places(both, here.columns)]
    group = np.unique(np.stack([mine, signature[kind]]), axis=1, return_inverse=True)[1].ravel()
    values = np.stack([both.of(s) for s in here.secrets]) if here.secrets else np.zeros((0, len(both)), np.int32)
    return Intersections(both.counts, mine, single[kind], fits[kind], group, values.astype(np.int64))


def _counted(
    here: ReleasedClasses, theirs: Sequence[str], known: Sequence[str], pairs: PairedView, ctx: AuditContext
) -> Counts | None:
    """Count people by the values that the other release's columns were made of, and by all that is released here."""
    sources = [source_of(c, ctx) for c in theirs]
    released = [*here.columns, *here.secrets]
    parts = []
    for left, right in pairs.pairs(list(dict.fromkeys(sources)), released):
        columns = {k: left[s] for k, s in zip(known, sources, strict=True)} | {c: right[c] for c in released}
        if len(left):
            parts.append(count(Table(columns, left.rows), [*known, *released]))
    return merge(parts) if parts else None


def _places(counts: Counts, columns: Sequence[str]) -> Integers:
    """Return the place of each combination in the projection to these columns: both are sorted in one way."""
    return counts.groups(columns)[0]


def _looked_up(people: Counts, there: ReleasedClasses, ctx: AuditContext) -> tuple[Integers, Integers, Integers]:
    """Return how many classes fit, the first of these, and a number for all of them together.

    The number is a sum of random ones, one for each class: other classes have another sum, but once in 2^64.
    """
    codes = people.codes.astype(np.int64) + SPECIALS
    random = np.random.default_rng(0).integers(-(1 << 63), (1 << 63) - 1, len(there), dtype=np.int64)
    known = replace(there.index(people.categories, ctx), rows=random)
    matches, _ = look_up(codes, np.ones(len(codes), dtype=np.int64), known, looks=_ALL)
    return matches.kinds, matches.first, matches.rows


@dataclass(frozen=True, slots=True)
class CommonValues:
    """Rows whose value is ``certain``, with this release ``alone``, or only now (``new``); ``right`` of these are true.

    ``expected`` of them would be right if the other release told nothing: who guesses draws from the class here.
    """

    certain: int
    alone: int
    new: int
    right: int
    expected: float

    @property
    def alarming(self) -> bool:
        """Whether guesses would hardly ever be right so often."""
        return self.right > 0 and bool(special.pdtrc(self.right - 1, self.expected) < ALARM)


@dataclass(frozen=True, slots=True, eq=False)
class _ClassValues:
    """Values of classes, sorted by class: ``begins`` (classes + 1,), and ``rows`` of each ``value``."""

    begins: Integers
    value: Integers
    rows: Integers


def common_values(
    place: int,
    people: Intersections,
    here: ReleasedClasses,
    there: ReleasedClasses,
    mine: CountableRows,
    theirs: CountableRows,
) -> CommonValues:
    """Return for whom the classes of both have one value of a secret in common; classes with a blank leave a doubt."""
    secret = here.secrets[place]
    other = there.secrets.index(secret)
    counts = (mine.counts((*here.columns, secret)), theirs.counts((*there.columns, secret)))
    names = union([f.names(secret) for f in counts])
    values_here, known = _class_values(here, counts[0], names), _class_values(there, counts[1], names)
    informed = (people.there >= 0) & (here.low[place, people.here] >= 0)
    informed &= there.low[other, np.maximum(people.there, 0)] >= 0
    pairs, which = np.unique(np.stack([people.here[informed], people.there[informed]]), axis=1, return_inverse=True)
    value, share = _only(pairs, values_here, known, len(names))
    sure = np.zeros(len(people.persons), dtype=np.bool_)
    sure[informed] = value[which.ravel()] >= 0
    alone = here.low[place] == here.high[place]
    alone &= here.low[place] >= 0
    new = sure & ~alone[people.here]
    among = which.ravel()[new[informed]]
    own = _onto(people.values[place], here.values[place], names)
    persons = people.persons
    return CommonValues(
        certain=int(persons[sure | alone[people.here]].sum()),
        alone=int(persons[alone[people.here]].sum()),
        new=int(persons[new].sum()),
        right=int(persons[new][own[new] == value[among]].sum()),
        expected=float((persons[new] * share[among]).sum()),
    )


def _class_values(classes: ReleasedClasses, counts: Counts, names: pa.StringArray) -> _ClassValues:
    owner = classes.places(counts)
    kept = counts.counts > 0
    order = np.argsort(owner[kept], kind="stable")
    value = _onto(counts.of(counts.columns[-1])[kept].astype(np.int64), counts.categories[-1], names)[order]
    begins = np.searchsorted(owner[kept][order], np.arange(len(classes) + 1))
    return _ClassValues(begins.astype(np.int64), value, counts.counts[kept][order])


def _onto(codes: Integers, own: pa.StringArray, names: pa.StringArray) -> Integers:
    """Return the codes in other categories; marks stay what they are."""
    place = pc.index_in(own, value_set=names).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(codes >= 0, np.append(place, -1)[codes], codes)


def _only(
    pairs: Integers, values_here: _ClassValues, known: _ClassValues, width: int
) -> tuple[Integers, npt.NDArray[np.float64]]:
    """Return the one value that both classes of each pair have, -1 for none or several, and its share in the first."""
    here, there = pairs
    size = values_here.begins[here + 1] - values_here.begins[here]
    pair = np.repeat(np.arange(len(here)), size)
    entry = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size, size) + values_here.begins[here][pair]
    owner = np.repeat(np.arange(len(known.begins) - 1), np.diff(known.begins))
    both = np.isin(there[pair] * width + values_here.value[entry], owner * width + known.value)
    many = np.bincount(pair[both], minlength=len(here))
    value = np.full(len(here), -1, dtype=np.int64)
    share = np.zeros(len(here))
    value[pair[both]] = values_here.value[entry[both]]
    rows = np.concatenate([[0], np.cumsum(values_here.rows)])
    total = rows[values_here.begins[here + 1]] - rows[values_here.begins[here]]
    share[pair[both]] = values_here.rows[entry[both]] / total[pair[both]]
    value[many != 1] = -1
    return value, share

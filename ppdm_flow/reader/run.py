"""A reader of all files of a run, whom several audits share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pyarrow as pa

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.sdk.audit import OtherRelease, Sql

if TYPE_CHECKING:
    import duckdb

    from ppdm_flow.reader.earlier import Hashing, KeptFile
    from ppdm_flow.reader.linked import LinkedTableRows
    from ppdm_flow.reader.query.groups import GroupTables
    from ppdm_flow.reader.row_kinds import ReaderQuestion
    from ppdm_flow.reader.run_files import RunFiles
    from ppdm_flow.reader.view import CandidateGroups

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class JointViews:
    """The joint views of all files of a run: the views of each file, and the texts of the sensitive codes.

    ``linked`` are, for each file, the others that tell something of its rows; ``viewed``, for each way to hold the
    files, the numbers of those whose rows were looked at.
    """

    views: Mapping[str, tuple[CandidateGroups, ...]]
    names: pa.StringArray
    linked: Mapping[str, tuple[str, ...]]
    viewed: tuple[frozenset[int], ...] = ()
    _figures: dict[tuple[Hashable, ...], Any] = field(default_factory=dict)

    def figure(self, name: Hashable, views: Sequence[CandidateGroups], count: Callable[[], T]) -> T:
        """Return a figure of views; releases that are copies of each other have the same views."""
        key = (name, *map(id, views))
        if key not in self._figures:
            self._figures[key] = count()
        known: T = self._figures[key]
        return known


@dataclass(frozen=True, slots=True, eq=False)
class JointShares:
    """The share of each file's people whom few attributes single out, and which others tell something of its rows."""

    shares: Mapping[str, float]
    linked: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class EarlierFiles:
    """The files of earlier runs, and the hashes by which a ledger knows them.

    ``attributes`` are those of the source of today. ``unverified`` says why some are not accounted for.
    """

    files: tuple[KeptFile, ...]
    hashing: Hashing | None
    attributes: frozenset[str]
    unverified: str = ""


class RunReader:
    """Somebody who holds all files of a run. What was asked once is remembered, for all audits."""

    def __init__(
        self,
        files: Sequence[OtherRelease],
        people: PeopleCount | None,
        nulls: Nulls,
        known: frozenset[str] = frozenset(),
        *,
        quasi_identifiers: frozenset[str] = frozenset(),
        determined: bool = False,
        unverified: str = "",
        tables: Sequence[LinkedTableRows] = (),
        before: EarlierFiles | None = None,
    ) -> None:
        """``known``: what may be known of somebody, though no file shows it; rows that a file lacks go by it.

        ``quasi_identifiers`` of the source: a single file whose cells these alone made is judged by its classes, unless
        missing values fit any other.
        ``determined``: the policy says of some attribute that others follow from it. ``unverified`` says why
        what the reader knows is not accounted for. ``tables`` are the linked tables of which the files are, that of
        the people first. ``before`` are the files of earlier runs.
        """
        self._files, self._people, self._nulls, self._determined = files, people, nulls, determined
        self._before = before if before is not None and before.files else None
        lack_rows = any(f.decided_by for f in files) or (before is not None and any(f.decided for f in before.files))
        self._known = known if lack_rows else frozenset[str]()
        self._unverified, self._tables = unverified, tables
        self._quasi_identifiers = frozenset[str]() if nulls is Nulls.WILDCARD else quasi_identifiers
        self._lock = Lock()
        self._database: duckdb.DuckDBPyConnection | None = None
        self._answers: dict[tuple[tuple[str, ...], str], JointViews | NotVerifiedError | None] = {}
        self._figures_sql: dict[tuple[tuple[str, ...], str], dict[str, tuple[GroupTables, ...]]] = {}
        self._singled_out: dict[tuple[tuple[str, ...], int], JointShares | NotVerifiedError | None] = {}

    def together(self, grouping: Sequence[str], sensitive: str = "") -> JointViews | None:
        """Return what all files reveal of ``sensitive``, given ``grouping``; None where each reveals as much.

        Raises NotVerifiedError.
        """
        if self._unverified:
            raise NotVerifiedError(self._unverified)
        if not (self._may_tell or self._mixes(frozenset(grouping)) or self._links(grouping)):
            return None
        with self._lock:
            key = (tuple(grouping), sensitive)
            if key not in self._answers:
                try:
                    self._answers[key] = self._answer(*key)
                except NotVerifiedError as fault:
                    self._answers[key] = fault
            answer = self._answers[key]
        if isinstance(answer, NotVerifiedError):
            raise answer
        return answer

    @cached_property
    def _may_tell(self) -> bool:
        """Whether files have an attribute or their order in common, lack rows, or hide or move cells.

        The plan shows it, but for attributes that are equal in every row.
        """
        if self._tables or self._before:  # which attributes they have in common only their values tell
            return True
        lineages = [[a.lineage for a in f.attributes.values()] for f in self._files]
        shown = [frozenset((a, each.key) for each in of for a in each.carries) for of in lineages]
        shared = any(one & other for one, other in combinations(shown, 2))
        orders = [f.ordered_by for f in self._files if f.ordered_by]
        hidden = any(each.hidden_by for of in lineages for each in of)
        moved = any(one.moved_by & other.moved_by for of in lineages for one, other in combinations(of, 2))
        lacking = len(self._files) > 1 and any(f.decided_by for f in self._files)
        if self._determined or shared or hidden or moved or lacking or len(set(orders)) < len(orders):
            return True
        if len(self._files) < 2:
            return False
        from ppdm_flow.reader.run_files import show_equal_attributes  # noqa: PLC0415  # a single file needs none of it

        return show_equal_attributes(self._files)

    def _read_alone(self, run_files: RunFiles, question: ReaderQuestion, *, several: bool = True) -> list[int]:
        known, several = self._quasi_identifiers, several and self._know_several
        return run_files.read_alone(question, known, determined=self._determined, several=several)

    def _links(self, grouping: Sequence[str]) -> bool:
        """Whether several rows of a person may be known, and some file says what is mostly the same in these."""
        return self._know_several and bool(self._unchecked.linking(self._unchecked.question(grouping, "", self._nulls)))

    @cached_property
    def _unchecked(self) -> RunFiles:
        from ppdm_flow.reader.run_files import read_files  # noqa: PLC0415  # as above

        return read_files(self._files, self._people, self._known, checked=False)

    @property
    def _know_several(self) -> bool:
        """Whether several rows of one person may be known."""
        return self._people is not None and self._people.known_rows != 1

    def _mixes(self, grouping: frozenset[str]) -> bool:
        """Whether cells of some file are made of attributes of ``grouping`` and of others that nobody is found by."""
        every = (a.lineage.carries for f in self._files for a in f.attributes.values())
        return any(carried & grouping and carried - grouping - self._quasi_identifiers for carried in every)

    def together_sql(
        self, sql: Sql, grouping: Sequence[str], sensitive: str = ""
    ) -> Mapping[str, tuple[GroupTables, ...]]:
        """Return the groups of each file by the second route. Raises NotVerifiedError."""
        from ppdm_flow.reader.query.groups import groups  # noqa: PLC0415  # files that tell nothing together need none of it

        joint_views = self.together(grouping, sensitive)
        with self._lock:
            key = (tuple(grouping), sensitive)
            if key not in self._figures_sql:
                every: dict[str, tuple[GroupTables, ...]] = {}
                for way, run_files in enumerate(self._ways):
                    out: dict[int, list[GroupTables]] = {}
                    question = run_files.question(*key, self._nulls)
                    alone = self._read_alone(run_files, question)
                    files = run_files.telling(question, alone)
                    database = self._database_of(sql)
                    for one in groups(database, run_files.source, files, question, self._known_rows, alone=alone):
                        if one.file < run_files.own or (
                            joint_views is not None and one.file in joint_views.viewed[way]
                        ):
                            out.setdefault(one.file, []).append(one)
                    for name, tables in run_files.by_name(run_files.spread(out, files), sensitive).items():
                        every[name] = (*every.get(name, ()), *tables)
                self._figures_sql[key] = every
            return self._figures_sql[key]

    def others_that_tell_more(self, grouping: Sequence[str]) -> Mapping[str, list[str]]:
        """Return for each file which others of the run tell more of ``grouping`` about the same rows than it does.

        For figures that do not ask what all files tell together. Raises NotVerifiedError.
        """
        from ppdm_flow.reader.earlier import tells_more  # noqa: PLC0415  # as below
        from ppdm_flow.reader.view import linked_to  # noqa: PLC0415  # as above

        if self._unverified:
            raise NotVerifiedError(self._unverified)
        if len(self._files) < 2 or not self._may_tell:
            return {}
        with self._lock:
            run_files = self._run_files
            question = run_files.question(grouping, "", self._nulls)
            files = run_files.telling(question)
            linked = linked_to(run_files.source, files, question, min(run_files.own, len(files)))
            linked = run_files.spread_links(linked, files)
        own = run_files.files[: run_files.own]
        about = frozenset(run_files.same[a] for a in grouping if a in run_files.same)
        return {
            file.name: [
                o.name for g, o in enumerate(own) if g in linked[f] and tells_more(o, [file], about, drawn=False)
            ]
            for f, file in enumerate(own)
        }

    def singled_out(self, attributes: Sequence[str], size: int) -> JointShares | None:
        """Return the people whom ``size`` of these attributes single out; None where files tell no more than each does.

        Raises NotVerifiedError.
        """
        if self._unverified:
            raise NotVerifiedError(self._unverified)
        if not self._may_tell and not self._mixes(frozenset(attributes)):
            return None
        with self._lock:
            key = (tuple(attributes), size)
            if key not in self._singled_out:
                try:
                    self._singled_out[key] = self._single_people(*key)
                except NotVerifiedError as fault:
                    self._singled_out[key] = fault
            answer = self._singled_out[key]
        if isinstance(answer, NotVerifiedError):
            raise answer
        return answer

    def singled_out_sql(self, sql: Sql, attributes: Sequence[str], size: int) -> Mapping[str, float]:
        """Return these shares by the second route. Raises NotVerifiedError."""
        from ppdm_flow.reader.query.uniques import shares_sql  # noqa: PLC0415  # as above

        joint_shares = self.singled_out(attributes, size)
        if joint_shares is None:
            return {}
        with self._lock:
            shares: dict[str, float] = {}
            for run_files in self._ways:
                questions = _questions(run_files, attributes, size, self._nulls)
                file_shares = shares_sql(
                    self._database_of(sql), run_files.source, run_files.files, questions, range(run_files.own)
                )
                for name, share in _by_file(run_files, file_shares).items():
                    shares[name] = max(share, shares.get(name, 0.0))
        return {name: share for name, share in shares.items() if name in joint_shares.shares}

    def _single_people(self, attributes: tuple[str, ...], size: int) -> JointShares | None:
        from ppdm_flow.reader.uniques import singled_out  # noqa: PLC0415  # as above

        shares: dict[str, float] = {}
        linked: dict[str, dict[str, None]] = {f.name: {} for f in self._files}
        for run_files in self._ways:
            questions = _questions(run_files, attributes, size, self._nulls)
            alone = {f for question in questions for f in self._read_alone(run_files, question, several=False)}
            singled_shares = singled_out(run_files.source, run_files.files, questions, run_files.own, alone)
            if singled_shares is None:
                continue
            for f in range(run_files.own):
                linked[run_files.files[f].name] |= dict.fromkeys(
                    run_files.files[g].name for g in singled_shares.linked[f]
                )
            for name, share in _by_file(run_files, singled_shares.shares).items():
                shares[name] = max(share, shares.get(name, 0.0))
        return JointShares(shares, {name: tuple(others) for name, others in linked.items()}) if shares else None

    def earlier_that_tell_more(self, attributes: Collection[str] | None, *, drawn: bool) -> list[str]:
        """Return the earlier files that tell more of ``attributes`` (None: of any) than each file of the run does.

        For figures that do not ask what all files tell together. Not ``drawn``: but for noisy and drawn cells.
        Raises NotVerifiedError.
        """
        from ppdm_flow.reader.earlier import tells_more  # noqa: PLC0415  # as below

        if self._before is None:
            return []
        with self._lock:
            run_files = self._run_files
        named = run_files.same.items()
        about = frozenset(one for name, one in named if attributes is None or name in attributes)
        own, earlier = run_files.files[: run_files.own], run_files.files[run_files.own :]
        return [file.name for file in earlier if tells_more(file, own, about, drawn=drawn)]

    def _database_of(self, sql: Sql) -> duckdb.DuckDBPyConnection:
        """Return the database of the second route, which who asks first opens."""
        if self._database is None:
            self._database = sql.database()
        return self._database

    @property
    def _known_rows(self) -> int | Literal["all"]:
        if self._people is None:
            return 1
        return "all" if self._people.known_rows is None else self._people.known_rows

    def _answer(self, grouping: tuple[str, ...], sensitive: str) -> JointViews | None:
        from ppdm_flow.reader.view import together  # noqa: PLC0415  # as above

        every: dict[str, tuple[CandidateGroups, ...]] = {}
        others: dict[str, dict[str, None]] = {f.name: {} for f in self._files}
        viewed = []
        for run_files in self._ways:
            question = run_files.question(grouping, sensitive, self._nulls)
            alone = self._read_alone(run_files, question)
            files = run_files.telling(question, alone)
            own = min(run_files.own, len(files))
            views_and_links = together(run_files.source, files, question, self._known_rows, alone=alone, own=own)
            views, linked = views_and_links or ({}, {})
            views, linked = run_files.spread(views, files), run_files.spread_links(linked, files)
            names = [f.name for f in run_files.files]
            pairs = {(f, g) for f, beside in linked.items() for g in beside}
            pairs |= {(g, f) for f, g in pairs if f >= run_files.own}
            for f in range(run_files.own):
                others[names[f]] |= dict.fromkeys(names[g] for g in range(len(names)) if (f, g) in pairs)
            for name, of_file in run_files.by_name(views, sensitive).items():
                every[name] = (*every.get(name, ()), *of_file)
            viewed.append(frozenset(views))
        if not every:
            return None
        linked_by_name = {name: tuple(beside) for name, beside in others.items()}
        return JointViews(every, self._run_files.texts_of(sensitive), linked_by_name, tuple(viewed))

    @cached_property
    def _ways(self) -> tuple[RunFiles, ...]:
        """The files as held by who looks for anybody, and, if values have changed, for somebody whose have not."""
        return (self._run_files, self._hold(apart=True)) if self._run_files.changed else (self._run_files,)

    @cached_property
    def _run_files(self) -> RunFiles:
        return self._hold()

    def _hold(self, *, apart: bool = False) -> RunFiles:
        from ppdm_flow.reader.run_files import read_files, read_linked_files  # noqa: PLC0415  # as above

        if self._tables:
            return read_linked_files(self._files, self._people, self._tables)
        if self._before is None:
            return read_files(self._files, self._people, self._known)
        before = self._before
        return read_files(
            self._files,
            self._people,
            self._known,
            before.files,
            before.hashing,
            attributes=before.attributes,
            apart=apart,
            hashed=self._run_files.hashed if apart else None,
        )


def _questions(run_files: RunFiles, attributes: Sequence[str], size: int, nulls: Nulls) -> list[ReaderQuestion]:
    sets = (s for n in range(1, min(size, len(attributes)) + 1) for s in combinations(attributes, n))
    return list(dict.fromkeys(run_files.question(s, "", nulls) for s in sets))


def _by_file(run_files: RunFiles, shares: Mapping[int, float]) -> dict[str, float]:
    """Return shares by the name of each file of the run; those of earlier runs' files count for each."""
    earlier = max((share for f, share in shares.items() if f >= run_files.own), default=0.0)
    counted_files = (
        range(run_files.own) if any(f >= run_files.own for f in shares) else [f for f in shares if f < run_files.own]
    )
    return {run_files.files[f].name: max(shares.get(f, 0.0), earlier) for f in counted_files}

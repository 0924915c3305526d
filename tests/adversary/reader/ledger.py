"""The product with a ledger held against the reader: random runs, one after the other, judged by both.

Such a reader holds all files of all runs that were released. A file shows the values of its time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from adversary.reader.chances import Chances
from adversary.reader.figures import share_of, smallest_size
from adversary.reader.files import (
    NotVerified,
    PreparedFiles,
    ReleasedFile,
    SourceRow,
    TruthExcluded,
    lineage_violations,
    prepare,
)
from adversary.reader.lineage import lineage
from adversary.reader.product import Outcome, make_ledger, run_with_ledger
from adversary.reader.runs import SLACK, Judgement, RequirementClause, measure, released_file, requirements
from adversary.reader.sequences import LEDGER, PERSON, RunSequence, SequenceRun, random_sequence
from adversary.reader.showing import Inquiry
from adversary.reader.view import CandidateGroup, ReaderView

CUMULATIVE = "cumulative_"
"""Begins the figures that go by the classes of earlier releases, and not by what a reader knows: they are stricter."""

ReleasedRun = tuple[SequenceRun, Outcome]


@dataclass(frozen=True)
class RunComparison:
    """A run of a sequence with both verdicts; ``before`` is how many runs were released before it.

    ``differing`` are the requirements that the product's reader of files judges otherwise.
    """

    number: int
    family: str
    run: int
    before: int
    verdict: str
    judgements: tuple[Judgement, ...] = ()
    differing: tuple[Judgement, ...] = ()
    codes: tuple[str, ...] = ()

    @property
    def is_harmless(self) -> bool:
        """Whether all requirements hold."""
        return all(j.holds for j in self.judgements)

    @property
    def breaches(self) -> tuple[Judgement, ...]:
        """The requirements that do not hold, and that the product takes to hold."""
        return tuple(j for j in self.differing if not j.holds)


def compare_sequence(sequence: RunSequence) -> list[RunComparison]:
    """Carry out a sequence and judge each of its runs by both."""
    before: list[ReleasedRun] = []
    found = []
    with TemporaryDirectory(prefix="reader-") as folder:
        make_ledger(Path(folder), LEDGER)
        for i, run in enumerate(sequence.runs):
            outcome = run_with_ledger(Path(folder) / f"run{i}", run.policy, run.rows)
            place = sequence.number, sequence.family, i, len(before), outcome.verdict
            if outcome.verdict == "refused":
                found.append(RunComparison(*place, codes=outcome.codes))
                continue
            passing: defaultdict[str, bool] = defaultdict(lambda: True)
            for result in outcome.measured:
                passing[result.id] &= result.passes or result.metric.rpartition(".")[2].startswith(CUMULATIVE)
            judgements = tuple(judge_run(before, run, outcome))
            differing = tuple(j for j in judgements if j.holds != passing[j.id])
            found.append(RunComparison(*place, judgements, differing))
            if outcome.verdict == "released":
                before.append((run, outcome))
    return found


def judge_run(before: Sequence[ReleasedRun], run: SequenceRun, outcome: Outcome) -> Iterator[Judgement]:
    """Judge each requirement of a run for the reader of its files and of those before."""
    own, earlier, source = files_of_all(before, run, outcome)
    subject = PERSON if run.policy["attributes"][PERSON]["role"] == "subject" else None
    prepared = prepare(source, [f for f in (*own, *earlier) if any(not r.absent for r in f.rows)], subject=subject)
    for requirement in requirements(run.policy) if run.policy["privacy"] != "none" else ():
        try:
            yield _judge(requirement, prepared, {f.name for f in own}, run.policy)
        except (NotVerified, TruthExcluded) as error:
            yield Judgement(requirement.id, holds=False, reason=f"{type(error).__name__}: {error}")


def _judge(requirement: RequirementClause, prepared: PreparedFiles, own: set[str], policy: dict[str, Any]) -> Judgement:
    clause = requirement.clause
    known_rows = int(policy["people"]["known_rows"]) if "people" in policy else 1

    def groups(known: Iterable[str]) -> list[CandidateGroup]:
        more: dict[str, Any] = {"known_rows": known_rows, "nulls": policy["nulls"]}
        return groups_of_run(prepared, own, Inquiry(prepared, known, requirement.sensitive, **more))

    if requirement.kind != "lkc":
        figure, holds = measure(requirement, groups(requirement.known))
        return Judgement(requirement.id, holds, figure)
    most = min(int(clause["l"]), len(requirement.known))
    sets = chain.from_iterable(combinations(requirement.known, n) for n in range(most + 1))
    every = [g for known in sets for g in groups(known)]
    (values,) = clause["sensitive"].values()
    size = smallest_size(every)
    share = max((share_of(g, values) for g in every if g.readings), default=0.0)
    holds = (size is None or size >= int(clause["k"])) and share <= float(clause["c"]) + SLACK
    return Judgement(requirement.id, holds, share if size is None or size >= int(clause["k"]) else size)


def groups_of_run(prepared: PreparedFiles, own: set[str], inquiry: Inquiry) -> list[CandidateGroup]:
    """The groups of the reader of all files, and of each file of the run alone.

    But for those in earlier files that are the same without the files of the run, and for what all people have in
    these, where no row of the run's file tells whose it is.
    """
    mine = [f for f in prepared.files if f.name in own]
    earlier = [f for f in prepared.files if f.name not in own]
    if violations := [v for v in lineage_violations(prepared) if v[0] in own]:
        raise NotVerified(f"lineage of {violations}")
    groups = _groups(inquiry, [prepared.files])
    if earlier:
        same = set(map(_told, _groups(inquiry, [earlier])))
        chances = Chances(inquiry)
        silent = {f.name for f in mine if all(np.ptp(chances.between(f, g, scaled=False)) == 0 for g in earlier)}
        groups = [_without_people(g) if g.file in silent else g for g in groups]
        groups = [g for g in groups if g.file in own or _told(g) not in same]
        groups += _groups(inquiry, [[f] for f in mine])
    return groups


def _groups(inquiry: Inquiry, readers: list[list[ReleasedFile]]) -> list[CandidateGroup]:
    view = ReaderView(inquiry)
    view.readers = readers
    return view.groups()


def _shares(values: dict[Any, float]) -> Any:
    return frozenset((v, round(p, 6)) for v, p in values.items() if p > 0)


def _without_people(group: CandidateGroup) -> CandidateGroup:
    """The group of a file without what people have in others, if the file reveals no value itself."""
    if any(any(c.readings.values()) for c in group.candidates):
        return group
    return replace(group, candidates=tuple(replace(c, sharing=()) for c in group.candidates))


def _told(group: CandidateGroup) -> Any:
    """What a group reveals, without the files that its reader holds."""
    whole = sum(c.weight for c in group.candidates)
    return (
        group.file,
        group.known,
        group.sought,
        frozenset(
            (
                c.row,
                round(c.weight / whole, 6),
                frozenset((n, _shares(each)) for n, each in c.readings.items()),
                tuple(frozenset(map(_shares, people)) for people in c.sharing),
            )
            for c in group.candidates
        ),
    )


def files_of_all(
    before: Sequence[ReleasedRun], run: SequenceRun, outcome: Outcome
) -> tuple[list[ReleasedFile], list[ReleasedFile], list[SourceRow]]:
    """The files of a run, those of the runs before, and the source: its rows, and those of people who have left.

    Of these the files that they are in tell.
    """
    values = {n: row for earlier, _ in before for n, row in zip(earlier.numbers, earlier.rows, strict=True)}
    gone = sorted({n for each in before for n in _numbers_in_files(*each)} - set(run.numbers))
    values.update(zip(run.numbers, run.rows, strict=True))
    at = {n: i for i, n in enumerate([*run.numbers, *gone])}
    source = [_read(values[n]) for n in at]
    own = list(_files(run, outcome, at))
    earlier = []
    for i, (other, made) in enumerate(before):
        then = {at[n]: _read(row) for n, row in zip(other.numbers, other.rows, strict=True) if n in at}
        then = {k: row for k, row in then.items() if row != source[k]}
        earlier += [replace(file, name=f"{i}.{file.name}", then=then) for file in _files(other, made, at)]
    return own, earlier, source


def _read(row: dict[str, str]) -> SourceRow:
    return {n: v or None for n, v in row.items()}


def _numbers_in_files(run: SequenceRun, outcome: Outcome) -> set[int]:
    """The rows of which the files of a run tell: those that they have, and those that they lack for a reason."""
    at = {n: i for i, n in enumerate(run.numbers)}
    files = _files(run, outcome, at)
    places = {k for f in files for k in (*(k for r in f.rows for k in r.origins), *(k for (k,) in f.absent))}
    return {run.numbers[k] for k in places}


def _files(run: SequenceRun, outcome: Outcome, at: dict[int, int]) -> Iterator[ReleasedFile]:
    """The files of a run, of rows at the places ``at``: those of others are lacking, but where some do by chance."""
    places = lineage(run.policy, outcome.hiding)
    origins = [(at.get(n, -1),) for n in run.numbers]
    for name in outcome.releases:
        file = released_file(run.policy, outcome, name, places, origins)
        absent = [k for k in file.absent if k != (-1,)]
        if not file.sampled:
            absent += [(k,) for n, k in at.items() if n not in run.numbers]
        place = places[run.policy["releases"][name]["from"]]
        yield replace(file, absent=absent, present=place.present if absent else None)


def main(first: int, last: int) -> None:
    """Compare the sequences of some numbers, and print what differs, and how much is released beside earlier runs."""
    verdicts: Counter[str] = Counter()
    rates: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for number in range(first, last):
        for found in compare_sequence(random_sequence(number)):
            verdicts[f"{found.verdict} {' '.join(found.codes)}".strip()] += 1
            if any(code.startswith("PPF9") for code in found.codes):
                print(number, found.run, *found.codes, flush=True)
            if found.before and found.verdict != "refused":
                rates[found.family][f"{'harmless' if found.is_harmless else 'harmful'}, {found.verdict}"] += 1
            for judgement in found.differing:
                way = "withheld, and holds" if judgement.holds else f"passes, and does not hold ({found.verdict})"
                about = f"{judgement.id} {judgement.figure} {judgement.reason}".strip()
                print(f"{number}.{found.run} {found.family}: {way}: {about}; {found.before} before", flush=True)
    for text, count in verdicts.most_common():
        print(count, text)
    for family, counts in rates.items():
        print(family, dict(sorted(counts.items())))

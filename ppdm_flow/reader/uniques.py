"""The people whom few attributes single out for a reader of all files, or of one of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.reader.candidates import KNOWN, CandidateSearch
from ppdm_flow.reader.figures import sizes
from ppdm_flow.reader.files import Ints, ReleasedFile, SourceRows
from ppdm_flow.reader.row_kinds import ReaderQuestion
from ppdm_flow.reader.view import GROUP, CandidateGroups, linked_files, search_of, views_of


@dataclass(frozen=True, slots=True, eq=False)
class SingledOutShares:
    """``shares``: the part of each file's people whom some question singles out. ``linked``: what reveals its rows."""

    shares: dict[int, float]
    linked: dict[int, list[int]]


def singled_out(
    source: SourceRows,
    files: Sequence[ReleasedFile],
    questions: Sequence[ReaderQuestion],
    own: int,
    alone: Collection[int] = (),
) -> SingledOutShares | None:
    """Return whom questions single out; None where no file tells more than equal cells do.

    A person is singled out if the group for one of their rows has size 1. The holder of all files is one reader, and
    the holder of one of the first ``own`` is another; the larger share counts. After these come the files of earlier
    runs. ``alone`` are the files that tell more by themselves than equal cells do. Raises NotVerifiedError.
    """
    linked: dict[int, set[int]] = {f: set() for f in range(len(files))}
    every = [search_of(source, files, question) for question in questions]
    for search in every:
        for f, others in linked_files(search, own).items():
            linked[f].update(others)
    if not any(linked.values()) and not alone:
        return None
    shares = _shares(source, every, range(len(files)))
    for f in range(own) if len(files) > 1 else ():
        searches = (search_of(source, [files[f]], question) for question in questions)
        for share in _shares(source, searches, [f]).values():
            shares[f] = max(share, shares.get(f, 0.0))
    others_by_file = {f: sorted(others) for f, others in linked.items()}
    return SingledOutShares({f: s for f, s in shares.items() if others_by_file[f] or f in alone}, others_by_file)


def _shares(source: SourceRows, searches: Iterable[CandidateSearch], reader_files: Sequence[int]) -> dict[int, float]:
    """Return the shares of the files that one reader holds, of which there is a search for each question."""
    people: defaultdict[int, list[Ints]] = defaultdict(list)
    single: defaultdict[int, list[Ints]] = defaultdict(list)
    for search in searches:
        for number, view in views_of(search, 1):
            group_sizes = sizes(view)
            people[reader_files[number]].append(_rows_known_by(group_sizes.index, view, search))
            single[reader_files[number]].append(_rows_known_by(group_sizes.index[group_sizes < 2], view, search))
    return {f: _share(source, people[f], single[f]) for f in people}


def _rows_known_by(groups: Iterable[int], view: CandidateGroups, search: CandidateSearch) -> Ints:
    """Return the source rows whose groups these are."""
    known = view.rows.loc[view.rows[GROUP].isin(list(groups)), KNOWN].unique()
    return np.flatnonzero(np.isin(search.known_of, known))


def _share(source: SourceRows, people: Sequence[Ints], single: Sequence[Ints]) -> float:
    """Return the share of ``single`` among ``people``, both as source rows: by people, or by the weights of rows."""
    every, alone = np.unique(np.concatenate(people)), np.unique(np.concatenate(single))
    if source.subject:
        return len(np.unique(source.unit[alone])) / len(np.unique(source.unit[every]))
    return float(source.weight[alone].sum() / source.weight[every].sum())

"""KRIMP and SLIM: the entries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets.collection import Counts, Items, Itemsets
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.itemsets.mine import least_rows
from ppdm_flow.mining.krimp.code_table import CodeTable, read_off
from ppdm_flow.mining.krimp.joins import Best
from ppdm_flow.mining.krimp.progress import Pace, Watch
from ppdm_flow.mining.krimp.search import CONSIDER, DONE, JOIN, MORE_SLOTS, PUT, search
from ppdm_flow.mining.krimp.state import ACCEPTED, PRUNED, State, begin_state, with_pool, with_slots

MOST_PAIRED = 8192
"""SLIM keeps a square of counts over all codes."""
_NO_CANDIDATES = Itemsets(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Compression:
    """A code table and how far the search for it came: of ``candidates`` the first ``position`` are considered.

    ``accepted`` and ``pruned`` count additions and removals. SLIM counts the unions it tried, of None.
    """

    table: CodeTable
    position: int
    candidates: int | None
    complete: bool
    accepted: int
    pruned: int


def krimp(
    database: Database,
    candidates: Itemsets,
    *,
    pruning: bool = True,
    watch: Watch | None = None,
    resume: Compression | None = None,
) -> Compression:
    """Compress with candidates in standard candidate order (Vreeken, van Leeuwen, Siebes 2011, algorithm 3).

    ``pruning`` is post-acceptance pruning. ``watch`` may stop the search: what was found then goes on, given as
    ``resume`` with the same data, candidates and parameters, to the same code table as without the stop.
    """
    s = _begun(database, _longest(candidates, resume), resume)
    position = resume.position if resume else 0
    table = resume.table if resume else read_off(s, database)
    bits, going = table.sizes.total, True
    pace = Pace(table.start, len(candidates))
    best, sets = _started(s), _arrays(candidates)
    while going and position < len(candidates):
        stop = min(position + pace.stride, len(candidates))
        position, why, grown = search(s, best, *sets, CONSIDER, position, stop, 0, pruning)
        bits += grown
        if why != DONE:
            s = _roomier(s, why)
        else:
            going = pace.tell(s, bits, position, watch)
    return _compression(s, database, position, len(candidates), position == len(candidates), resume)


def slim(
    database: Database,
    min_support: float = 1,
    *,
    pruning: bool = True,
    watch: Watch | None = None,
    resume: Compression | None = None,
) -> Compression:
    """Compress with candidates found on the way: unions of two codes (Smets, Vreeken, SDM 2012, algorithm 1).

    A union needs ``min_support`` rows (int) or that share of them (float). Goes on where ``resume`` stopped; unions
    that were of no use are then tried once more. Raises PluginError PPF776 for more than 8,192 items.
    """
    if database.items > MOST_PAIRED:
        raise _too_wide(database.items)
    s = _begun(database, database.cells.shape[1], resume, pairing=True)
    best, sets = _started(s), _arrays(_NO_CANDIDATES)
    least = least_rows(min_support, database.rows)
    tried = resume.position if resume else 0
    table = resume.table if resume else read_off(s, database)
    bits, going, complete = table.sizes.total, True, False
    pace = Pace(table.start, None)
    while going and not complete:
        done, why, grown = search(s, best, *sets, JOIN, 0, pace.stride, least, pruning)
        bits += grown
        tried += done
        if why != DONE:
            s = _roomier(s, why)
            best = _started(s) if why == MORE_SLOTS else best
        else:
            complete = done < pace.stride
            going = pace.tell(s, bits, tried, watch)
    return _compression(s, database, tried, None, complete, resume)


def cover(database: Database, itemsets: Itemsets) -> CodeTable:
    """Cover a database, of the same items, with given itemsets (of two items or more); sizes are of this database."""
    longest = int(itemsets.lengths.max(initial=2))
    s = begin_state(database, max(2, longest))
    return read_off(_put_all(s, itemsets), database)


def _longest(candidates: Itemsets, resume: Compression | None) -> int:
    known = [int(candidates.lengths.max(initial=2)), 2]
    if resume:
        known.append(int(resume.table.itemsets.lengths.max(initial=2)))
    return max(known)


def _begun(database: Database, longest: int, resume: Compression | None, *, pairing: bool = False) -> State:
    s = begin_state(database, max(2, longest), pairing=pairing)
    return _put_all(s, resume.table.itemsets) if resume else s


def _put_all(s: State, itemsets: Itemsets) -> State:
    best, sets, position = _started(s), _arrays(itemsets), 0
    while position < len(itemsets):
        position, why, _ = search(s, best, *sets, PUT, position, len(itemsets), 0, False)
        if why != DONE:
            s = _roomier(s, why)
    s.table.numbers[ACCEPTED] = 0
    return s


def _arrays(itemsets: Itemsets) -> tuple[Counts, Items, Counts]:
    """Return offsets, items and supports of the types that the kernel is compiled for."""
    return (
        np.ascontiguousarray(itemsets.offsets, dtype=np.int64),
        np.ascontiguousarray(itemsets.items, dtype=np.int32),
        np.ascontiguousarray(itemsets.supports, dtype=np.int64),
    )


def _roomier(s: State, why: int) -> State:
    return with_slots(s) if why == MORE_SLOTS else with_pool(s)


def _started(s: State) -> Best:
    """Return what SLIM knows of partners before it has looked; where no pairs are counted, nothing ever."""
    size = len(s.pairing.pairs)
    return Best(
        np.full(size, -1, dtype=np.int32),
        np.zeros(size),
        np.zeros(size, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(s.table.items.shape[1] + 1, dtype=np.int32),
    )


def _compression(
    s: State, database: Database, position: int, candidates: int | None, complete: bool, resume: Compression | None
) -> Compression:
    before = (resume.accepted, resume.pruned) if resume else (0, 0)
    accepted, pruned = int(s.table.numbers[ACCEPTED]) + before[0], int(s.table.numbers[PRUNED]) + before[1]
    return Compression(read_off(s, database), position, candidates, complete, accepted, pruned)


def _too_wide(items: int) -> PluginError:
    return PluginError(
        Diagnostic(
            "PPF776",
            f"SLIM looks at pairs of items, and {items} items have too many",
            help="leave out or generalize the attribute with most values, or use KRIMP with a minimum support",
        )
    )

"""KRIMP and SLIM: the entries."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import least_rows
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compiled_search import CompiledSearch
from ppdm_flow.mining.krimp.progress import ProgressThrottle, Watch

MOST_PAIRED = 8192
"""SLIM keeps a square of counts over all codes."""
SLOTS = 256
"""Elements that a search has room for at first."""


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
    database: ItemDatabase,
    candidates: ItemsetCollection,
    *,
    pruning: bool = True,
    watch: Watch | None = None,
    resume: Compression | None = None,
) -> Compression:
    """Compress with candidates in standard candidate order (Vreeken, van Leeuwen, Siebes 2011, algorithm 3).

    ``pruning`` is post-acceptance pruning. ``watch`` may stop the search: what was found then goes on, given as
    ``resume`` with the same data, candidates and parameters, to the same code table as without the stop.
    """
    begun = _begun(database, _longest(candidates, resume), resume)
    position = resume.position if resume else 0
    table = resume.table if resume else begun.read_off()
    bits, going = table.sizes.total, True
    pace = ProgressThrottle(table.start, len(candidates))
    while going and position < len(candidates):
        stop = min(position + pace.stride, len(candidates))
        bits += begun.consider(candidates, position, stop, pruning=pruning)
        position = stop
        going = pace.tell(begun.elements, bits, position, watch)
    return _compression(begun, position, len(candidates), position == len(candidates), resume)


def slim(
    database: ItemDatabase,
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
    least = least_rows(min_support, database.rows)

    begun = _begun(database, max(2, database.cells.shape[1]), resume, pairing=True)
    tried = resume.position if resume else 0
    table = resume.table if resume else begun.read_off()
    bits, going, complete = table.sizes.total, True, False
    pace = ProgressThrottle(table.start, None)
    while going and not complete:
        stride = pace.stride
        done, grown = begun.join(stride, least, pruning=pruning)
        bits += grown
        tried += done
        complete = done < stride
        going = pace.tell(begun.elements, bits, tried, watch)
    return _compression(begun, tried, None, complete, resume)


def cover(database: ItemDatabase, itemsets: ItemsetCollection) -> CodeTable:
    """Cover a database, of the same items, with given itemsets (of two items or more); sizes are of this database."""
    begun = CompiledSearch(database, max(2, int(itemsets.lengths.max(initial=2))), SLOTS, pairing=False)
    begun.put(itemsets)
    return begun.read_off()


def _longest(candidates: ItemsetCollection, resume: Compression | None) -> int:
    known = [int(candidates.lengths.max(initial=2)), 2]
    if resume:
        known.append(int(resume.table.itemsets.lengths.max(initial=2)))
    return max(known)


def _begun(
    database: ItemDatabase, longest: int, resume: Compression | None, *, pairing: bool = False
) -> CompiledSearch:
    """Return a search that has the itemsets which were found before."""
    begun = CompiledSearch(database, longest, SLOTS, pairing=pairing)
    if resume:
        begun.put(resume.table.itemsets)
    return begun


def _compression(
    begun: CompiledSearch, position: int, candidates: int | None, complete: bool, resume: Compression | None
) -> Compression:
    before = (resume.accepted, resume.pruned) if resume else (0, 0)
    accepted, pruned = begun.accepted + before[0], begun.pruned + before[1]
    return Compression(begun.read_off(), position, candidates, complete, accepted, pruned)


def _too_wide(items: int) -> PluginError:
    return PluginError(
        Diagnostic(
            "PPF776",
            f"SLIM looks at pairs of items, and {items} items have too many",
            help="leave out or generalize the attribute with most values, or use KRIMP with a minimum support",
        )
    )

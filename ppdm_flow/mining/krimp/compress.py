"""KRIMP and SLIM: the entries."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets.collection import Itemsets
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.itemsets.mine import least_rows
from ppdm_flow.mining.krimp import plain_cover
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compiled_search import CompiledSearch
from ppdm_flow.mining.krimp.plain_search import STEPS, PlainSearch, krimp_steps, slim_steps
from ppdm_flow.mining.krimp.progress import Pace, Watch
from ppdm_flow.mining.krimp.search import search
from ppdm_flow.sdk.compiled import TooMuchWorkError, python_gives_back, python_takes

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


Search = PlainSearch | CompiledSearch
R = TypeVar("R")


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
    ``resume`` with the same data, candidates and parameters, to the same code table as without the stop. Little data
    are compressed by Python itself, to the same table; where that turns out to be too much work, ``watch`` hears of the
    search from its beginning once more.
    """

    def compressed(begun: Search) -> Compression:
        position = resume.position if resume else 0
        table = resume.table if resume else begun.read_off()
        bits, going = table.sizes.total, True
        pace = Pace(table.start, len(candidates))
        while going and position < len(candidates):
            stop = min(position + pace.stride, len(candidates))
            bits += begun.consider(candidates, position, stop, pruning=pruning)
            position = stop
            going = pace.tell(begun.elements, bits, position, watch)
        return _compression(begun, position, len(candidates), position == len(candidates), resume)

    about = krimp_steps(database, candidates)
    return _searched(database, _longest(candidates, resume), resume, compressed, about)


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
    least = least_rows(min_support, database.rows)

    def compressed(begun: Search) -> Compression:
        tried = resume.position if resume else 0
        table = resume.table if resume else begun.read_off()
        bits, going, complete = table.sizes.total, True, False
        pace = Pace(table.start, None)
        while going and not complete:
            stride = pace.stride
            done, grown = begun.join(stride, least, pruning=pruning)
            bits += grown
            tried += done
            complete = done < stride
            going = pace.tell(begun.elements, bits, tried, watch)
        return _compression(begun, tried, None, complete, resume)

    return _searched(database, max(2, database.cells.shape[1]), resume, compressed, slim_steps(database), pairing=True)


def cover(database: Database, itemsets: Itemsets) -> CodeTable:
    """Cover a database, of the same items, with given itemsets (of two items or more); sizes are of this database."""
    steps = plain_cover.steps(database, itemsets)
    if python_takes(search, steps, steps):
        return plain_cover.covered(database, itemsets)
    begun = CompiledSearch(database, max(2, int(itemsets.lengths.max(initial=2))), SLOTS, pairing=False)
    begun.put(itemsets)
    return begun.read_off()


def _longest(candidates: Itemsets, resume: Compression | None) -> int:
    known = [int(candidates.lengths.max(initial=2)), 2]
    if resume:
        known.append(int(resume.table.itemsets.lengths.max(initial=2)))
    return max(known)


def _searched(
    database: Database,
    longest: int,
    resume: Compression | None,
    found: Callable[[Search], R],
    about: float,
    *,
    pairing: bool = False,
) -> R:
    """Return what is found by Python itself where that is little work, else by compiled code: the same.

    ``about`` is how many steps it may take.
    """
    if about < STEPS and (steps := python_takes(search, STEPS, about)):
        plain = PlainSearch(database, longest, SLOTS, steps, pairing=pairing)
        with contextlib.suppress(TooMuchWorkError):
            result = found(_with(plain, resume))
            python_gives_back(steps - plain.steps)
            return result
    return found(_with(CompiledSearch(database, longest, SLOTS, pairing=pairing), resume))


def _with(begun: Search, resume: Compression | None) -> Search:
    if resume:
        begun.put(resume.table.itemsets)
    return begun


def _compression(
    begun: Search, position: int, candidates: int | None, complete: bool, resume: Compression | None
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

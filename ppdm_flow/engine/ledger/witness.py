"""Runs bear witness for a ledger: each manifest names the last entry that its run saw, and the numbers it was given.

A chain shows what was changed within a ledger, and not that the whole is an older copy. Runs that were judged with it
since then do: an entry that they saw is not there, or is another one. A held run bears witness twice: of what it was
judged with, and in ``publication.json`` of what it was released with. Nothing shows it once these runs are gone too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.digests import sha256
from ppdm_flow.engine.candidates.run_files import PUBLICATION
from ppdm_flow.engine.candidates.unpublished import RELEASED, is_unpublished
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.manifest import LedgerTestimony


@dataclass(frozen=True, slots=True)
class Witness:
    """A published, held or withheld run, and why the ledger cannot be the one that it was judged with."""

    run: Path
    text: str


def testimony(store: LedgerStore, count: int) -> LedgerTestimony:
    """Return what a manifest says of the ledger; ``count`` are the releases that are about to be written down."""
    heads, last = store.heads(), store.last()
    return {
        "key": "" if store.key is None else store.key.commitment,
        "position": len(heads),
        "chain": heads[-1] if heads else "",
        "releases": list(range(last + 1, last + 1 + count)),
    }


def contradictions(store: LedgerStore, manifests: Iterator[Path]) -> tuple[int, tuple[Witness, ...]]:
    """Return how many of these runs were judged with the ledger, and those that it does not know, or knows otherwise.

    The ledger must have been checked with its key.
    """
    heads, known = store.heads(), {e.number: e.manifest for e in store.entries()}
    commitment = "" if store.key is None else store.key.commitment
    count, contradicting = 0, []
    for path in manifests:
        said = _said(path)
        if said is None or said["key"] != commitment or is_unpublished(path.parent.resolve()):
            continue
        count += 1
        text, later = _contradiction(said, heads), _said(path.with_name(PUBLICATION))
        if (path.parent / RELEASED).is_dir() and later is not None and later["key"] == commitment:
            text, said = text or _contradiction(later, heads), later
        if text is None and (path.parent / RELEASED).is_dir():
            digest = sha256(path)
            unknown = [n for n in said["releases"] if known.get(n) != digest]
            text = f"its release no. {unknown[0]} is not in the ledger" if unknown else None
        if text is not None:
            contradicting.append(Witness(path.parent, text))
    return count, tuple(contradicting)


def check_neighbours(store: LedgerStore, folder: Path) -> None:
    """Hold the ledger against the runs in ``folder``. Raises DataError where one of them saw another ledger."""
    _, contradicting = contradictions(
        store, (path / MANIFEST for path in sorted(folder.iterdir()) if not path.is_symlink())
    )
    if contradicting:
        first = contradicting[0]
        text = f"{store.name} is older than a run that used it, or a copy: `{first.run.name}`: {first.text}"
        advice = (
            "put the latest copy back; `ppdm-flow ledger LEDGER --runs FOLDER` lists all runs that it does not know"
        )
        raise data_fault("PPF913", text, advice=advice)


def _contradiction(said: LedgerTestimony, heads: tuple[str, ...]) -> str | None:
    position = said["position"]
    if position > len(heads):
        return f"it saw entry {position}, and the last one here is {len(heads)}"
    if position and heads[position - 1] != said["chain"]:
        return f"it saw another entry {position}"
    return None


def _said(path: Path) -> LedgerTestimony | None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))["ledger"]
        said = LedgerTestimony(
            key=document["key"], position=document["position"], chain=document["chain"], releases=document["releases"]
        )
        good = isinstance(said["position"], int) and all(isinstance(n, int) for n in said["releases"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return said if good else None

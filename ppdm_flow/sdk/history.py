"""Earlier releases about the same people, from the release ledger: keyed hashes, never values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.bytes_]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """The class of each person: ``subjects`` (people,), all different, and ``classes`` (people,), both hashes.

    A person with several rows is in a class of those with just the same rows' classes. ``columns`` are the released
    ones that form the classes of ``rows`` rows, ``cells`` the number of combinations in them. ``places`` (rows,) are
    the places in ``subjects`` of whom the rows are about, in the order of ``PairedView.pairs``; earlier releases have
    none. ``packed_file`` is the release's file as keyed hashes, for the ledger alone; nothing where it cannot be kept.
    """

    subjects: Hashes
    classes: Hashes
    columns: tuple[str, ...] = ()
    rows: int = 0
    cells: int = 0
    places: Places | None = None
    packed_file: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class EarlierRelease:
    """An earlier release, or another one of the same run. ``attributes`` are those released, by their source's names.

    ``members`` is None where nothing tells whose rows it has; ``generated`` rows are nobody's.
    ``same_run``: it is no earlier one, but another release of this run. ``forgotten``: the ledger was made to forget
    people of it whom this run has again.
    """

    name: str
    attributes: frozenset[str]
    members: Membership | None = None
    generated: bool = False
    same_run: bool = False
    forgotten: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseHistory:
    """The people of a release, and all others that it can be combined with. ``own`` is None where rows are nobody's."""

    own: Membership | None
    earlier: tuple[EarlierRelease, ...] = field(default=())

    @property
    def unknown(self) -> tuple[EarlierRelease, ...]:
        """The releases of people's own rows that nothing tells the people of."""
        return tuple(e for e in self.earlier if e.members is None and not e.generated)

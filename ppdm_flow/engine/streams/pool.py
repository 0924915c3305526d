"""One numbering of the texts of a column over all partitions, which only grows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.tables.column import Column

_LOOKED_UP = 1 << 18


class Pool:
    """The texts so far. Up to 262,144 of them none is there twice; above that, looking up costs more than repeating."""

    def __init__(self) -> None:
        self._pieces: list[pa.StringArray] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def categories(self) -> pa.StringArray:
        """Return the texts that codes point into."""
        if len(self._pieces) != 1:
            self._pieces = [pa.concat_arrays(self._pieces)] if self._pieces else [pa.array([], pa.string())]
        return self._pieces[0]

    def coded(self, column: Column) -> npt.NDArray[np.int32]:
        """Return the codes of ``column`` in the pool, after taking in what is new."""
        names = column.categories
        if self._size > _LOOKED_UP:
            code_map = np.arange(self._size, self._size + len(names), dtype=np.int32)
            self._append(names)
        else:
            code_map = self._looked_up(names)
        return column.mapped(code_map, names).codes

    def _looked_up(self, names: pa.StringArray) -> npt.NDArray[np.int32]:
        known = self.categories()
        places = pc.index_in(names, value_set=known)
        fresh = places.is_null().to_numpy(zero_copy_only=False)
        code_map: npt.NDArray[np.int32] = places.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
        code_map[fresh] = np.arange(self._size, self._size + int(fresh.sum()), dtype=np.int32)
        self._append(names.filter(pa.array(fresh)))
        return code_map

    def _append(self, names: pa.StringArray) -> None:
        if len(names):
            self._pieces.append(names)
            self._size += len(names)

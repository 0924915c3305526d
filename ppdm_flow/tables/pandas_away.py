"""Keeps pyarrow from importing pandas, in a process that hands it none of pandas' objects.

The first array of a process has pyarrow import pandas where it is installed, only to know its objects: a fifth of a
second and 60 MB. It takes a failure for an answer, so pandas is hidden from its first look.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from threading import get_ident
from types import ModuleType
from typing import Any

import pyarrow as pa


class _Hidden(MetaPathFinder):
    """Hides pandas from one thread while it looks; whoever imports it later has pyarrow look for its classes again."""

    def __init__(self, shim: Any) -> None:
        self._shim = shim
        self._hidden_from: int | None = None

    def look(self) -> None:
        """Have both halves of pyarrow look: the one in Python, and the one in C++ that knows missing values."""
        self._hidden_from = get_ident()
        try:
            _ = self._shim.have_pandas
            pa.array([0])
        finally:
            self._hidden_from = None

    def find_spec(self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None, /) -> None:
        """Find nothing, and refuse pandas while it is hidden."""
        if fullname != "pandas":
            return
        if self._hidden_from == get_ident():
            raise ModuleNotFoundError("pandas is hidden", name=fullname)
        sys.meta_path.remove(self)
        self._shim.__init__()


def keep_pandas_away() -> None:
    """Let this process do without pandas until somebody imports it; nothing changes where it is imported already.

    From then on pyarrow knows series and frames again, but not ``pandas.NA`` and ``pandas.NaT`` among objects: this is
    only for a process that is our own, with no one else's plugin.
    """
    shim = getattr(pa.lib, "_pandas_api", None)
    if shim is None or "pandas" in sys.modules or any(isinstance(finder, _Hidden) for finder in sys.meta_path):
        return
    hidden = _Hidden(shim)
    sys.meta_path.insert(0, hidden)
    hidden.look()

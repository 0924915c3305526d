"""Keeps scipy from importing NumPy's compiler of Fortran, which the first of its modules does for nothing.

``scipy.special`` takes all names of NumPy, and f2py is one of them: half of what the import takes, a twentieth of a
second. Here it is loaded when something of it is asked for, by the standard library's lazy loader.
"""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec

import numpy as np

_NAME = "numpy.f2py"


def keep_f2py_away() -> None:
    """Load f2py when it is used, and not when it is named; nothing changes where it is imported or not there."""
    spec = None if _NAME in sys.modules else find_spec(_NAME)
    if spec is None or spec.loader is None:
        return
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)
    vars(np)["f2py"] = module

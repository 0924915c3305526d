"""When the program began, as nearly as it can tell: this is the first of its modules to be imported."""

from __future__ import annotations

import time

BEGUN = time.perf_counter()

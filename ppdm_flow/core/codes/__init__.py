"""Every diagnostic code with its page: what ``ppdm-flow explain CODE`` shows.

PPF1xx text, 2xx shape, 3xx inheritance and params, 4xx plugins, 5xx policy rules, 6xx plan, 7xx data and run,
8xx audit, 9xx internal. Each hundred is one module here, holding ``PAGES``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ppdm_flow.core.page import CodePage

HUNDREDS = (
    "text",
    "sweeping",
    "diffing",
    "hierarchies",
    "cases",
    "mined",
    "shape",
    "compose",
    "waivers",
    "plugins",
    "rules",
    "plan",
    "gates",
    "outputs",
    "profiled",
    "scaffold",
    "trusted_figures",
    "run",
    "mining",
    "generation",
    "recipient",
    "anonymizers",
    "randomization",
    "audit",
    "classes",
    "ledger",
    "ledger_server",
    "locking",
    "generated",
    "attacks",
    "partitioned",
    "local_recoding",
    "exposure",
    "together",
    "internal",
    "trust",
)


@cache
def pages() -> dict[str, CodePage]:
    """Return all pages by code."""
    found: dict[str, CodePage] = {}
    for name in HUNDREDS:
        for page in import_module(f"{__name__}.{name}").PAGES:
            if page.code in found:
                raise ValueError(f"two pages for {page.code}")
            found[page.code] = page
    return dict(sorted(found.items()))

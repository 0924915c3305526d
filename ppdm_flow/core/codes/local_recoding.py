"""PPF881 to PPF884: local recoding, microaggregation and suppression."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF881",
        "the whole table breaks a requirement",
        "Even with all rows in one class, and nothing told of their quasi-identifiers, a requirement does not hold: the"
        " table has fewer rows than k, or too few sensitive values.",
        "Every class of a partition would break it too.",
        "Ask for less, or do not release a table of so few rows.",
    ),
)

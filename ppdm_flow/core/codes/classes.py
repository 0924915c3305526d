"""PPF876 to PPF885: audits of equivalence classes and of sets."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        code="PPF876",
        title="rows that no class counts",
        what="The policy says `nulls: exclude`, and rows with a missing cell are released.",
        why="They are in no class, so no figure says what is learned of the people behind them.",
        fix="Drop such rows (`source: {incomplete_rows: drop}`), or say `nulls: own_category` or `nulls: wildcard`.",
        bad="nulls: exclude",
        good="nulls: own_category",
    ),
    CodePage(
        code="PPF877",
        title="a sensitive value without a place in its order",
        what="`distance: ordered` is asked for, and released values are no numbers, no dates, or not in `order`.",
        why="Without a rank nothing says how far such a value is from others; what cannot be measured does not hold.",
        fix="Name every value that is released in `order`, coarser ones that a step writes included; or give the"
        " attribute its `type`; or say `distance: equal`.",
        bad="t_closeness:\n  income: {t: 0.2, distance: ordered, order: [low, high]}    # the release has medium too",
        good="t_closeness:\n  income: {t: 0.2, distance: ordered, order: [low, medium, high]}",
    ),
)

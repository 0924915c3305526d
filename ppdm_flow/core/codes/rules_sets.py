"""PPF535 and PPF536: sets of items in a policy."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF535",
        "numbers of sets",
        "An attribute with `role: items` has a `type` other than text, or a hierarchy of `intervals`.",
        "Items are names, also where they are written as numbers: they have no order and no distance.",
        "Leave `type` out; categories of items are a hierarchy of `levels` or `csv`.",
        bad="attributes: {basket: {role: items, type: integer}}",
        good="attributes: {basket: {role: items, hierarchy: {csv: categories.csv}}}",
    ),
    CodePage(
        "PPF536",
        "columns of a file of sets",
        "`source.columns` is given for `format: transactions`, `baskets` or `long`.",
        "Such a file gives one column of sets, which the attribute with `role: items` names.",
        "Leave `source.columns` out; the columns of a headless file in long form are `with: {columns: […]}`.",
        bad="source: {path: shop.dat, format: transactions, columns: [basket]}",
        good="source: {path: shop.dat, format: transactions}",
    ),
)

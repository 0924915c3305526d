"""PPF575 to PPF577: a requirement on sets of items that they could keep."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF575",
        "a requirement on sets, and no such sets",
        "`privacy.itemset_breach` is there, and no attribute has `role: items`, or several have and none is named, or"
        " the named one has another role.",
        "There would be nothing, or something else, to measure.",
        "Declare the sets with `role: items`; name one of several with `attribute:`.",
        bad="attributes: {basket: {role: insensitive}}\nprivacy: {itemset_breach: {level: 0.5}}",
        good="attributes: {basket: {role: items}}\nprivacy: {itemset_breach: {level: 0.5}}",
    ),
    CodePage(
        "PPF576",
        "a level that a frequent item exceeds by itself",
        "The largest support of an item in `max_supports` is not below the `level` of `itemset_breach`.",
        "Whoever knows how often the item occurs expects it in any set with that probability, whatever is released: no"
        " randomization brings it down.",
        "Give a level above the support. Or drop such items beforehand: what everybody buys is no secret, and no find.",
        bad="privacy: {itemset_breach: {level: 0.5, max_supports: [0.57, 0.33, 0.1]}}",
        good="privacy: {itemset_breach: {level: 0.5, max_supports: [0.05, 0.01, 0.002]}}",
    ),
    CodePage(
        "PPF577",
        "maximal supports that rise",
        "In `max_supports` a larger itemset has a higher support than a smaller one.",
        "A set that holds an itemset holds every part of it, so no itemset is more frequent than its parts.",
        "Order them by the size of itemsets: the first is that of single items.",
        bad="privacy: {itemset_breach: {level: 0.5, max_supports: [0.002, 0.01, 0.05]}}",
        good="privacy: {itemset_breach: {level: 0.5, max_supports: [0.05, 0.01, 0.002]}}",
    ),
)

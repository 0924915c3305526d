"""Pages of the codes that the search for itemsets and code tables uses."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES = (
    CodePage(
        "PPF775",
        "too many itemsets",
        "At this minimum support there are more itemsets than can be held in memory.",
        "Their number grows exponentially with the number of attributes as the minimum support falls.",
        "Raise the minimum support, take closed itemsets only, bound their length, or let SLIM find its candidates"
        " itself.",
    ),
    CodePage(
        "PPF776",
        "too many values for SLIM",
        "The attributes have more than 8,192 values in all, each of them an item.",
        "SLIM finds its candidates among all pairs of codes: their counts alone would fill the memory.",
        "Leave out or generalize the attribute with most values, or use KRIMP with a minimum support.",
    ),
)

"""PPF570 to PPF574: sets of items on their way through a plan."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF570",
        "a file of sets, and other attributes",
        "A file in `format: transactions`, `baskets` or `long` gives one set a row and nothing else, and the policy"
        " declares other attributes than the one with `role: items`, or none with that role.",
        "There is no column that they could be.",
        "Declare exactly one attribute, with `role: items`. Sets beside other columns are a list column in Parquet.",
        bad="source: {path: shop.dat}\nattributes: {town: {role: quasi_identifier}, basket: {role: items}}",
        good="source: {path: shop.dat}\nattributes: {basket: {role: items}}",
    ),
    CodePage(
        "PPF571",
        "a format without sets",
        "An attribute has `role: items`, and the format of the source or of a release has a single value in each cell.",
        "A set is not one value, and a text of several items would be treated as one.",
        "Read `format: transactions`, `baskets`, `long` or a list column in Parquet; write `baskets`, `transactions` or"
        " Parquet.",
        bad="source: {path: shop.csv}\nattributes: {basket: {role: items}}",
        good="source: {path: shop.csv, format: baskets}\nattributes: {basket: {role: items}}",
    ),
    CodePage(
        "PPF572",
        "a release of sets, and other columns",
        "A release in `format: transactions` or `baskets` has other columns than one of sets, or no sets.",
        "A line of such a file has room for one set.",
        "Write Parquet, or drop the other attributes.",
        bad="releases: {study: {path: study.baskets}}   # town and basket",
        good="releases: {study: {path: study.parquet}}",
    ),
    CodePage(
        "PPF573",
        "a step on values is given sets",
        "A step that changes or reads single values names an attribute with `role: items`.",
        "It would look at sets as if they were values.",
        "Name other attributes there; sets are for steps such as `limit_items` and `roll_up`.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "steps: {coarse: {use: generalize, with: {attributes: {basket: {prefix: 2}}}}}"
        ),
        good=(
            "attributes: {basket: {role: items, hierarchy: {levels: {bread: [food], soap: [household]}}}}\n"
            "steps: {coarse: {use: roll_up}}"
        ),
    ),
    CodePage(
        "PPF574",
        "randomized sets as text",
        "A release in `format: transactions` or `baskets` has sets that a step has randomized.",
        "A randomized set holds a good part of all items there are: lines of thousands of them.",
        "Write Parquet, which holds bits or seeds.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps: {randomize: {use: randomize_transactions}}\n"
            "releases: {study: {path: study.dat, format: transactions}}"
        ),
        good=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps: {randomize: {use: randomize_transactions}}\n"
            "releases: {study: {path: study.parquet}}"
        ),
    ),
)

"""PPF665 and PPF751 to PPF759: data with sets of items."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF751",
        "a malformed set",
        "A row's set holds an item twice or a missing item, or is missing itself; or a released file of randomized sets"
        " lacks the document that explains its bits or seeds.",
        "A set has each item once, and an unknown set is another thing than an empty one: supports would be wrong.",
        "`with: {repeated: merge}` keeps repeated items once, and the report counts them; drop rows without a set"
        " beforehand.",
        bad="source: {path: sales.dat}   # a line says 17 17 23",
        good="source: {path: sales.dat, with: {repeated: merge}}",
    ),
    CodePage(
        "PPF665",
        "an item to leave out that no set has",
        "`without` of `limit_items` names an item that is in no set, in no declared domain and in no hierarchy.",
        "A misspelt name leaves the item in that was meant.",
        "Correct the name, or take it out; one that may be absent belongs into the attribute's `domain`.",
        bad="attributes: {basket: {role: items}}\nsteps:\n  fewer: {use: limit_items, with: {without: [insuline]}}",
        good="attributes: {basket: {role: items}}\nsteps:\n  fewer: {use: limit_items, with: {without: [insulin]}}",
    ),
    CodePage(
        "PPF752",
        "sets where single values are counted",
        "A step or an audit asked for the counts of an attribute with `role: items`.",
        "A row has a set of items there, not one value: there is nothing to count.",
        "Name an ordinary attribute; steps on sets are `limit_items` and `roll_up`.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "audits:\n"
            "  counts: {use: acme_counts, with: {attribute: basket}}    # a plugin that counts the"
            " values of a cell"
        ),
        good="attributes: {basket: {role: items}}\nsteps:\n  short: {use: limit_items, with: {max: 6}}",
    ),
    CodePage(
        "PPF753",
        "randomized sets over different alphabets",
        "The partitions of one release hold packed or seeded sets over different alphabets.",
        "Bits and seeds mean nothing without the one alphabet that is published with them. A plugin is at fault.",
        "Tell the author of the plugin: it must randomize over one alphabet.",
        bad=(
            "$ PPDM_LOG=debug ppdm-flow run policy.yaml    # a step of a plugin randomizes each"
            " partition over its own items"
        ),
        good=(
            "$ ppdm-flow run policy.yaml --partition-rows 100000000    # one partition only, until its"
            " author has mended it"
        ),
    ),
    CodePage(
        "PPF754",
        "sets and single values confused",
        "An attribute with `role: items` is a column of single values in the data, or a column of lists has another"
        " role.",
        "What a cell means decides how it is protected.",
        "Correct the role, or read the file by `format: transactions`, `baskets` or `long`.",
        bad="source: {path: orders.parquet}\nattributes: {basket: {role: insensitive}}    # a column of lists",
        good="source: {path: orders.parquet}\nattributes: {basket: {role: items}}",
    ),
    CodePage(
        "PPF755",
        "a line that is no set",
        "A line of a transactions file holds something else than item numbers, or a line of a baskets file has quotes"
        " or names that are not in order. Messages give the line, never what it says.",
        "Reading on would make up items, or lose some.",
        "Look at that line; names are `format: baskets`, numbers `format: transactions`.",
        bad="$ cat orders.dat    # -1 and x are no items\n1 2 -1\n3 x",
        good="$ cat orders.dat\n1 2\n3 4",
    ),
    CodePage(
        "PPF756",
        "an empty set that is not wanted",
        "A set has no items, and the policy says `empty: error`.",
        "A blank line can be a basket with nothing in it, or a sign that the file is damaged.",
        "`empty: keep`, the default, keeps empty sets, and the report counts them.",
        bad="source: {path: sales.dat, with: {empty: error}}",
        good="source: {path: sales.dat, with: {empty: keep}}",
    ),
    CodePage(
        "PPF757",
        "an item of nobody's",
        "A row in long form has no id, so its item belongs to no set.",
        "Leaving it out would change supports; putting all such rows together would make up a set.",
        "Give the row its id, or take it out of the file.",
        bad="$ head -3 receipts.csv    # whose butter?\nreceipt,product\n1,bread\n,butter",
        good="$ head -3 receipts.csv\nreceipt,product\n1,bread\n1,butter",
    ),
    CodePage(
        "PPF758",
        "long form without its columns",
        "The file has no column of the name that `with: {id: …}` or `with: {item: …}` gives.",
        "Without both columns there are no sets.",
        "Correct the names; for a file without a header say `with: {columns: [id, item]}`.",
        bad="source: {path: sales.csv, format: long, with: {id: recipt, item: product}}",
        good="source: {path: sales.csv, format: long, with: {id: receipt, item: product}}",
    ),
    CodePage(
        "PPF759",
        "sets that the format cannot hold",
        "A release in `format: transactions` has an item that is no number, or one in `format: baskets` an item with a"
        " line end; or the rows are more than one plain set.",
        "The file could not be read back as what was released.",
        "Write names as `format: baskets`, and randomized sets or several columns as `format: parquet`.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "releases: {study: {path: study.dat, format: transactions}}    # items are names: bread, butter"
        ),
        good="attributes: {basket: {role: items}}\nreleases: {study: {path: study.txt, format: baskets}}",
    ),
)

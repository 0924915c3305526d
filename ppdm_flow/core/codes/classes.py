"""PPF876 to PPF880: audits of equivalence classes and of sets."""

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
        "PPF877",
        "a sensitive value without a place in its order",
        "`distance: ordered` is asked for, and released values are no numbers, no dates, or not in `order`.",
        "Without a rank nothing says how far such a value is from others; what cannot be measured does not hold.",
        "Name every value that is released in `order`, coarser ones that a step writes included; or give the"
        " attribute its `type`; or say `distance: equal`.",
        bad=(
            "privacy:\n"
            "  t_closeness:    # the release has `medium` too\n"
            "    income: {t: 0.2, distance: ordered, order: [low, high]}"
        ),
        good="privacy:\n  t_closeness:\n    income: {t: 0.2, distance: ordered, order: [low, medium, high]}",
    ),
    CodePage(
        "PPF878",
        "a population that cannot be read",
        "The file of `k_map` or of an audit `reidentification_risk`, or a hierarchy that its values need, is not there,"
        " is no CSV file, has two columns of one name, or lacks a column for a released attribute that forms the"
        " classes.",
        "Without it nobody can count the people who fit a class.",
        "Give a CSV file with a header, and with `columns` what it calls the attributes, by their names in the source.",
        bad=(
            "privacy:    # its column is called ZIP, the attribute zip\n"
            "  k_map: {k: 5, attributes: [zip], population: {path: voters.csv}}"
        ),
        good="privacy:\n  k_map: {k: 5, attributes: [zip], population: {path: voters.csv, columns: {zip: ZIP}}}",
    ),
    CodePage(
        code="PPF879",
        title="released classes that fit nobody",
        what="Of some released classes the population file has nobody. A warning: `k` is then 0.",
        why="The file lacks people of the data, or writes their values in another way, so that nothing fits.",
        fix="Write the values of the file as in the source, before anything is generalized. Declare the hierarchy that"
        " a step generalizes by with the attribute, so that its labels are understood.",
        bad="steps:\n  coarse: {use: generalize, with: {attributes: {job: {hierarchy: jobs.csv}}}}",
        good="attributes:\n  job: {role: quasi_identifier, hierarchy: {csv: jobs.csv}}",
    ),
    CodePage(
        code="PPF880",
        title="variety of randomized values",
        what="A requirement on the sensitive values of classes, or on combinations of items, is asked of an attribute"
        " that a step has randomized.",
        why="Values that were drawn at random vary, whether the people's own values do or not; whoever knows the"
        " operator sees through it. Counting them would promise a protection that is none.",
        fix="Require `sensitivities` of a perturbed attribute, `itemset_breach` of randomized sets.",
        bad="privacy:\n  km_anonymity: {k: 5, m: 2}    # after randomize_transactions",
        good="privacy:\n  itemset_breach: {level: 0.5}",
    ),
)

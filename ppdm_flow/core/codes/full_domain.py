"""PPF738, PPF739 and PPF806 to PPF809: recoding whole classes."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF806",
        "no levels of the hierarchies keep the requirements",
        "Even where every attribute is generalized as far as it may be, more rows would have to be suppressed than the"
        " step may suppress.",
        "Releasing the best of what is not good enough would break what the policy promises.",
        "Allow more `suppression`, higher `levels`, more levels in the hierarchies, or ask for less.",
        "steps:\n  recode: {use: full_domain_recoding, with: {suppression: 0, levels: {age: {max: 0}}}}",
        "steps:\n  recode: {use: full_domain_recoding, with: {suppression: 0.05}}",
    ),
    CodePage(
        "PPF807",
        "values that a requirement cannot be enforced on",
        "The sensitive attribute has missing values under `nulls: exclude`, or values without a rank where the distance"
        " of t-closeness goes by ranks.",
        "The step would enforce something else than the audit measures.",
        "Drop incomplete rows (`source.incomplete_rows: drop`), give every value its place in `order`, or use"
        " `nulls: own_category`.",
        bad=(
            "privacy:    # and the data has `year`\n"
            "  t_closeness:\n"
            "    stay: {t: 0.2, distance: ordered, order: [day, week, month]}"
        ),
        good="privacy:\n  t_closeness:\n    stay: {t: 0.2, distance: ordered, order: [day, week, month, year]}",
    ),
    CodePage(
        "PPF808",
        "the population table cannot be used",
        "The file of `k_map.population` is not there, is no CSV file, lacks a column, or has values that the"
        " hierarchies"
        " do not cover.",
        "Without the population nobody knows how many people a class fits.",
        "Correct the path, `columns` or `delimiter`; let the hierarchies cover the population's values as well.",
        bad=(
            "privacy:    # the register calls the column postcode\n"
            "  k_map: {k: 20, attributes: [zip], population: {path: register.csv}}"
        ),
        good=(
            "privacy:\n  k_map: {k: 20, attributes: [zip], population: {path: register.csv, columns: {zip: postcode}}}"
        ),
    ),
    CodePage(
        "PPF809",
        "the levels are good, perhaps not the best",
        "The search ended before every node of the lattice was decided: it has more than two million nodes, or"
        " `most_nodes` ended it.",
        "What is released keeps every requirement all the same; other levels might lose less.",
        "Nothing, if the release is useful enough. Otherwise raise `most_nodes`, or bound some attributes with `levels`"
        " so that the lattice becomes small.",
        bad="steps:\n  recode: {use: full_domain_recoding, with: {most_nodes: 100}}",
        good="steps:\n  recode: {use: full_domain_recoding, with: {levels: {age: {min: 1, max: 3}, zip: {min: 2}}}}",
    ),
    CodePage(
        "PPF738",
        "rows dropped in place of suppressed cells",
        "`suppress: cells` keeps suppressed rows as a class of their own; this time that class would have broken a"
        " requirement.",
        "A few rows that are alike only in being suppressed would be the easiest to recognize.",
        "Nothing; or allow more `suppression`, so that the class grows.",
        bad=(
            "steps:\n"
            "  recode: {use: full_domain_recoding, with: {suppress: cells, suppression: 0.001}}    #"
            " three rows of 3,000"
        ),
        good="steps:\n  recode: {use: full_domain_recoding, with: {suppress: cells, suppression: 0.01}}",
    ),
    CodePage(
        "PPF739",
        "missing cells written as suppressed ones",
        "Under `nulls: wildcard` or `exclude` a missing cell counts towards several classes or none. The step"
        " suppresses"
        " such cells in the attributes that it recodes.",
        "A suppressed cell means the same under all null semantics, so that the classes of the search are those of the"
        " audit.",
        "Nothing; `nulls: own_category` keeps missing cells apart.",
        bad="nulls: wildcard",
        good="nulls: own_category",
    ),
)

"""PPF770, PPF785 and PPF793 to PPF795: the perturbation of an attribute."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF770",
        "the bound that costs most",
        "Of all bounds on the attribute this one holds the released values back most: raising its r2 a little, and"
        " nothing else, would let the most rows keep their value.",
        "Protection has a price in usefulness, and a steward should know which bound it is paid for.",
        "Nothing to fix. If the release is not useful enough, ask first whether this r2 may be higher; the step's"
        " figures `shadow_price.<value>` have the price of every bound.",
        bad=(
            "privacy:\n"
            "  sensitivities:    # the bound on flu costs most, and flu is no secret\n"
            "    disease: {values: {flu: {r1: 0.02, r2: 0.05}, HIV: {r1: 0.02, r2: 0.1}}}"
        ),
        good=(
            "privacy:\n  sensitivities:\n    disease: {values: {flu: {r1: 0.02, r2: 0.3}, HIV: {r1: 0.02, r2: 0.1}}}"
        ),
    ),
    CodePage(
        "PPF785",
        "a value lies outside of the domain",
        "The data holds a value that the declared domain does not have, or a partition holds one that was not there"
        " when the step was fitted.",
        "An operator has no row for such a value, so no bound holds for it.",
        "Complete the `domain:` of the attribute, or correct the data.",
        "attributes:\n  sex: {role: sensitive, domain: [F]}",
        "attributes:\n  sex: {role: sensitive, domain: [F, M]}",
    ),
    CodePage(
        "PPF793",
        "a value is known too well beforehand",
        "Its share of the rows already exceeds r2, the bound on what may be known afterwards.",
        "No perturbation can make less known than the frequencies alone tell; the bound still holds for priors of at"
        " most r1.",
        "Raise r2 of this value if the share is no secret, or reconsider whether the attribute can be released.",
        bad="privacy:\n"
        "  sensitivities:    # and 30 % of all rows have flu\n"
        "    disease: {values: {flu: {r1: 0.1, r2: 0.25}}}",
        good="privacy:\n  sensitivities:\n    disease: {values: {flu: {r1: 0.4, r2: 0.6}}}",
    ),
    CodePage(
        "PPF794",
        "the domain was taken from the data",
        "The attribute declares no `domain:`, so the operator ranges over the values that occur.",
        "Which values occur is then published with the operator.",
        "Declare the domain, with values that do not occur too, if their occurrence is sensitive.",
        "attributes:\n  disease: {role: sensitive}",
        "attributes:\n  disease: {role: sensitive, domain: [flu, HIV, none]}",
    ),
    CodePage(
        "PPF795",
        "no row keeps its value",
        "The bounds are so strict, or the domain so small, that every value of the attribute becomes a uniform draw.",
        "The released attribute then carries no information about anyone, nor about the frequencies.",
        "Relax the bounds, drop rare values from the domain, or drop the attribute.",
        bad=(
            "privacy:    # r2 is r1, but for the last digit: nothing may be learned at all\n"
            "  sensitivities: {disease: {default: {r1: 0.5, r2: 0.5000000000000001}}}"
        ),
        good="privacy:\n  sensitivities: {disease: {default: {r1: 0.5, r2: 0.75}}}",
    ),
)

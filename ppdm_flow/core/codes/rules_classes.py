"""PPF580 to PPF586: requirements on equivalence classes and on sets of items."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF580",
        "a bound that no release can keep",
        "The declared `domain` of the sensitive attribute has fewer values than `l`, or so few that some share must"
        " exceed `alpha`.",
        "No class can hold more values than there are, so every run would be withheld.",
        "Lower `l`, raise `alpha`, or complete the domain.",
        bad="attributes: {disease: {role: sensitive, domain: [HIV, flu]}}\nprivacy: {l_diversity: {disease: {l: 3}}}",
        good="attributes: {disease: {role: sensitive, domain: [HIV, flu]}}\nprivacy: {l_diversity: {disease: {l: 2}}}",
    ),
    CodePage(
        "PPF581",
        "a sensitive attribute that forms the classes",
        "The sensitive attribute of a requirement is one of those that the requirement groups by.",
        "Within a class every row has the same value of it, whatever is released: the requirement says nothing of what"
        " others can learn.",
        "Give it `role: sensitive`, or name in `attributes` what else groups.",
        bad="privacy: {l_diversity: {disease: {l: 3, attributes: [job, disease]}}}",
        good="privacy: {l_diversity: {disease: {l: 3, attributes: [job, country]}}}",
    ),
    CodePage(
        "PPF582",
        "a bound that any release keeps",
        "A distance `t`, a share `alpha` of 1 or more bounds nothing: both are at most 1.",
        "The policy would promise a protection that is none.",
        "Give a bound below 1.",
        bad="privacy: {t_closeness: {disease: {t: 1}}}",
        good="privacy: {t_closeness: {disease: {t: 0.2}}}",
    ),
    CodePage(
        "PPF583",
        "a requirement that is said by half",
        "`kind: recursive` needs a `c`, and no other kind has one; `l` is a whole number unless `kind: entropy`; `c`"
        " and `sensitive` of `lkc` need each other; `l` of `lkc` is at most the number of attributes that may be known."
        " And, a warning: `alpha_k` without `k_anonymity` is the alpha alone.",
        "What is left out would be guessed, and a guess may protect less than was meant.",
        "Add the key that the message names, or take out the one that it does not go with.",
        bad="privacy: {l_diversity: {disease: {l: 3, kind: recursive}}}",
        good="privacy: {l_diversity: {disease: {l: 3, kind: recursive, c: 2}}}",
    ),
    CodePage(
        "PPF584",
        "an ordered distance without an order",
        "`distance: ordered` is asked for of a text without `domain` and `order`, or `order` lacks values of the"
        " domain, or there is an `order` without `distance: ordered`.",
        "How far two values are apart is the number of ranks between them: each value needs its rank.",
        "Give `order: [lowest, …, highest]`; or, if the values are numbers or dates, the attribute's `type`.",
        bad="attributes: {income: {role: sensitive}}\nprivacy: {t_closeness: {income: {t: 0.2, distance: ordered}}}",
        good="attributes: {income: {role: sensitive, type: integer}}\n"
        "privacy: {t_closeness: {income: {t: 0.2, distance: ordered}}}",
    ),
    CodePage(
        "PPF585",
        "a population that does not fit the attributes",
        "`columns` of a `population` names an attribute that `k_map` does not group by, or two attributes have the same"
        " column, or the delimiter is not one character.",
        "The people who fit a class would be counted by something else than what forms the classes.",
        "Name each grouping attribute, with its column in the file.",
        bad="privacy:\n  k_map: {k: 5, attributes: [zip], population: {path: voters.csv, columns: {age: AGE}}}",
        good="privacy:\n  k_map: {k: 5, attributes: [zip], population: {path: voters.csv, columns: {zip: ZIP}}}",
    ),
    CodePage(
        "PPF586",
        "a requirement on sets, and no such sets",
        "`privacy.km_anonymity` is there, and no attribute has `role: items`, or several have and none is named, or the"
        " named one has another role.",
        "There would be nothing, or something else, to measure.",
        "Declare the sets with `role: items`; name one of several with `attribute:`.",
        bad="attributes: {basket: {role: insensitive}}\nprivacy: {km_anonymity: {k: 5, m: 2}}",
        good="attributes: {basket: {role: items}}\nprivacy: {km_anonymity: {k: 5, m: 2}}",
    ),
)

"""Pages on requirements on equivalence classes and on sets of items."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import REQUIREMENTS, Concept

_GROUPS = (
    " Classes are formed by all quasi-identifiers unless `attributes` names others. Suppressed cells are a value of"
    " their own; missing ones too, but `nulls: exclude` leaves rows with a missing cell out, and with `nulls: wildcard`"
    " a row belongs to every class that its missing quasi-identifiers allow. Where the attribute is not released, it"
    " holds."
)

CLASS_CONCEPTS: Mapping[str, Concept] = {
    "l_diversity": Concept(
        REQUIREMENTS,
        "every equivalence class has at least `l` well-represented values of a sensitive attribute",
        "`kind: distinct` (the default) counts values. `entropy`: e to the power of the entropy of the class is at"
        " least l, as many equally frequent values would give. `recursive`: the most frequent value has fewer rows than"
        " `c` times all rows from the l-th most frequent value on (Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam,"
        " ACM TKDD 2007); measured is the largest such l. Several sensitive attributes are judged one by one: whoever"
        " knows one of them may learn another, which `attributes` can ask for."
        + _GROUPS
        + " Figure: `privacy.l_diversity.ATTRIBUTE.l`, the least over all classes.",
        "privacy:\n  k_anonymity: {k: 5}\n  l_diversity:\n    disease: {l: 3}\n"
        "    income: {l: 2, kind: recursive, c: 3}",
    ),
    "t_closeness": Concept(
        REQUIREMENTS,
        "a sensitive attribute is distributed in every class as in the whole release, within a distance `t`",
        "The distance is the earth mover's (Li, Li, Venkatasubramanian, ICDE 2007). `distance: equal`: all values are"
        " equally far apart, and it is the share of rows that would have to change their value. `distance: ordered`: a"
        " row moves by ranks, and all ranks but one are a distance of 1; numbers and dates have an order, texts that of"
        " `order` or of their `domain`. Ranks are those of the values that the release holds. A suppressed or missing"
        " value has no rank and is at a distance of 1 from all others."
        + _GROUPS
        + " Figure: `privacy.t_closeness.ATTRIBUTE.t`, the largest over all classes.",
        "privacy:\n  t_closeness:\n    disease: {t: 0.2}\n    income: {t: 0.15, distance: ordered}",
    ),
    "alpha_k": Concept(
        REQUIREMENTS,
        "no value of a sensitive attribute has a share above `alpha` in any equivalence class",
        "It is the alpha of (alpha, k)-anonymity (Wong, Li, Fu, Wang, KDD 2006); its k is `k_anonymity`. `values` names"
        " the values that it is about, such as those that do harm; left out, all of them."
        + _GROUPS
        + " Figure: `privacy.alpha_k.ATTRIBUTE.alpha`.",
        "privacy:\n  k_anonymity: {k: 5}\n  alpha_k:\n    disease: {alpha: 0.5, values: [HIV]}",
    ),
    "delta_disclosure": Concept(
        REQUIREMENTS,
        "no value of a sensitive attribute is much more, or much less, frequent in a class than in the whole release",
        "|ln(p / q)| is at most `delta` for the share p of each value in each class and its share q in the release"
        " (Brickell, Shmatikov, KDD 2008). A class that lacks a value which others have cannot keep it, whatever the"
        " delta: then there is no figure, and it does not hold."
        + _GROUPS
        + " Figure: `privacy.delta_disclosure.ATTRIBUTE.delta`.",
        "privacy:\n  delta_disclosure:\n    disease: {delta: 1.5}",
    ),
    "beta_likeness": Concept(
        REQUIREMENTS,
        "no value of a sensitive attribute gains much in any class: (p - q) / q is at most `beta`",
        "p is the share of a value in a class, q its share in the whole release (Cao, Karras, PVLDB 2012, basic"
        " beta-likeness). Unlike a distance, it protects rare values as well as frequent ones; values that become rarer"
        " do not count." + _GROUPS + " Figure: `privacy.beta_likeness.ATTRIBUTE.beta`.",
        "privacy:\n  beta_likeness:\n    disease: {beta: 2}",
    ),
    "k_map": Concept(
        REQUIREMENTS,
        "every equivalence class of the release fits at least `k` people of a population",
        "The population is a CSV file with a row for each person and the values as they are in the source (Sweeney,"
        " 2001): weaker than k-anonymity where an attacker cannot know who of the population is in the data. A person"
        " fits a released label that is the value itself, one of its ancestors in the hierarchy that the attribute"
        " declares, an interval that holds it, a masked form of it or a part of the date; a suppressed cell fits"
        " everybody. `columns` says what the file calls the attributes. Figure: `privacy.k_map.k`, in people.",
        "privacy:\n  k_map:\n    k: 5\n    population: {path: voters.csv, columns: {zip: ZIP}}",
    ),
    "lkc": Concept(
        REQUIREMENTS,
        "whoever knows at most `l` quasi-identifiers of somebody finds at least `k` rows, and infers no more than `c`",
        "LKC-privacy (Mohammed, Fung, Hung, Lee, KDD 2009): for tables with too many attributes for k-anonymity over"
        " all. Every combination of at most l attributes forms classes; each has k rows, and a share of at most c of"
        " them has one of the `sensitive` values. Figures: `privacy.lkc.k` and `privacy.lkc.confidence`.",
        "privacy:\n  lkc: {l: 2, k: 5, c: 0.5, sensitive: {disease: [HIV]}}",
    ),
    "km_anonymity": Concept(
        REQUIREMENTS,
        "every combination of at most `m` items that occurs is in at least `k` sets",
        "k^m-anonymity of set-valued data (Terrovitis, Mamoulis, Kalnis, PVLDB 2008): whoever knows up to m items of"
        " somebody's set finds no set with all of them, or at least k. It is about sets as they are; of randomized ones"
        " say `itemset_breach`. Figure: `privacy.km_anonymity.k`, in sets.",
        "privacy:\n  km_anonymity: {k: 5, m: 2}",
    ),
}

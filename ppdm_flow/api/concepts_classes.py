"""Pages on requirements on equivalence classes and on sets of items."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import REQUIREMENTS, Concept

_GROUPS = (
    " Classes are formed by all quasi-identifiers unless `attributes` names others. Suppressed cells are a value of"
    " their own; missing ones too, but `nulls: exclude` leaves rows with a missing cell out, and with `nulls: wildcard`"
    " the class of a row is the rows that contradict it nowhere and are missing wherever it is. Where the attribute is"
    " not released, it holds."
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
        why="A class whose rows share one value gives it away, however many rows it has (the homogeneity attack).",
        formula="distinct: |values in C| >= l. entropy: -sum p ln p >= ln l. recursive: r_1 < c (r_l + r_(l+1) + ..."
        " + r_m), r_i the i-th most frequent value's rows in C.",
        reference="Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-diversity, ACM TKDD 1(1), 2007, definitions"
        " 4.1 to 4.3",
        bad="privacy:\n  l_diversity:\n    disease: {l: 5}   # PPF580 if its domain has but three values",
        fix="`full_domain_recoding` and `mondrian` make classes that keep it. Where one value is frequent"
        " everywhere, `t_closeness` or `alpha_k` on the harmful values fits better.",
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
        why="A class may be diverse and still tell much: three cancers are three values.",
        formula="max over classes C of EMD(P_C, Q) <= t. equal: 1/2 sum |p_i - q_i|. ordered: 1/(m - 1) sum over i of"
        " |sum over j <= i of (p_j - q_j)|.",
        reference="Li, Li, Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, ICDE 2007",
        bad="privacy:\n  t_closeness:\n    disease: {t: 1}   # no distance is larger: bounds nothing",
        fix="Coarsen the quasi-identifiers further: larger classes are closer to the whole. `distance: ordered`"
        " for numbers, where near values tell nearly the same.",
    ),
    "alpha_k": Concept(
        REQUIREMENTS,
        "no value of a sensitive attribute has a share above `alpha` in any equivalence class",
        "It is the alpha of (alpha, k)-anonymity (Wong, Li, Fu, Wang, KDD 2006); its k is `k_anonymity`. `values` names"
        " the values that it is about, such as those that do harm; left out, all of them."
        + _GROUPS
        + " Figure: `privacy.alpha_k.ATTRIBUTE.alpha`.",
        "privacy:\n  k_anonymity: {k: 5}\n  alpha_k:\n    disease: {alpha: 0.5, values: [HIV]}",
        why="Often it is one value that harms, and it must stay a guess in every class.",
        formula="max over classes C and values v of |rows of C with v| / |C| <= alpha.",
        reference="Wong, Li, Fu, Wang, (alpha, k)-anonymity, KDD 2006",
        bad="privacy:\n  alpha_k:\n    disease: {alpha: 1, values: [HIV]}   # a class may be all HIV",
        fix="`full_domain_recoding` and `mondrian` make classes that keep it; alpha below the value's share in"
        " the whole table cannot hold.",
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
        why="That a value is missing in a class tells as much as that it is frequent there.",
        formula="for all classes and values: |ln(p / q)| <= delta.",
        reference="Brickell, Shmatikov, The cost of privacy, KDD 2008, definition 4",
        bad="privacy:\n  delta_disclosure:\n    disease: {delta: 0}   # every class exactly like the whole",
        fix="Few values and large classes: recode rare values of the sensitive attribute together first."
        " `beta_likeness` asks for the upper side only.",
    ),
    "beta_likeness": Concept(
        REQUIREMENTS,
        "no value of a sensitive attribute gains much in any class: (p - q) / q is at most `beta`",
        "p is the share of a value in a class, q its share in the whole release (Cao, Karras, PVLDB 2012, basic"
        " beta-likeness). Unlike a distance, it protects rare values as well as frequent ones; values that become rarer"
        " do not count." + _GROUPS + " Figure: `privacy.beta_likeness.ATTRIBUTE.beta`.",
        "privacy:\n  beta_likeness:\n    disease: {beta: 2}",
        why="From 0.1 % to 5 % is a small distance, and fifty times the suspicion.",
        formula="max over classes and values with p > q of (p - q) / q <= beta.",
        reference="Cao, Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5(11), 2012, definition 2",
        bad="privacy:\n  beta_likeness:\n    disease: {beta: 1000000}   # bounds nothing",
        fix="`full_domain_recoding` and `mondrian` make classes that keep it; rare values of the sensitive"
        " attribute decide.",
    ),
    "k_map": Concept(
        REQUIREMENTS,
        "every equivalence class of the release fits at least `k` people of a population",
        "The population is a CSV file with a row for each person and the values as they are in the source (Sweeney,"
        " 2001): weaker than k-anonymity where an attacker cannot know who of the population is in the data. A person"
        " fits a released label that is the value itself, one of its ancestors in the hierarchy that the attribute"
        " declares, an interval that holds it, a masked form of it or a part of the date; a suppressed cell fits"
        " everybody, with `nulls: wildcard` a missing one too; a person's missing value fits no other cell. `columns`"
        " says what the file calls the attributes. Figure: `privacy.k_map.k`, in people.",
        "privacy:\n  k_map:\n    k: 5\n    population: {path: voters.csv, columns: {zip: ZIP}}",
        why="Somebody alone in the sample may be one of thousands in the country.",
        formula="min over classes C of |people of the population whose quasi-identifiers fit C| >= k.",
        reference="Sweeney, Computational disclosure control: a primer on data privacy protection, thesis, MIT, 2001",
        bad="privacy:\n  k_map: {k: 5, population: {path: sample.csv}}   # the data themselves are no population",
        fix="`generalize` or `full_domain_recoding` until each class fits enough people; take `k_anonymity` where"
        " it may be known who is in the data.",
    ),
    "lkc": Concept(
        REQUIREMENTS,
        "whoever knows at most `l` quasi-identifiers of somebody finds at least `k` rows, and infers no more than `c`",
        "LKC-privacy (Mohammed, Fung, Hung, Lee, KDD 2009): for tables with too many attributes for k-anonymity over"
        " all. Every combination of at most l attributes forms classes; each has k rows, and a share of at most c of"
        " them has one of the `sensitive` values of an attribute: they are counted together, so that naming one more"
        " asks for more (`alpha_k` bounds each by itself). Figures: `privacy.lkc.k` and `privacy.lkc.confidence`.",
        "privacy:\n  lkc: {l: 2, k: 5, c: 0.5, sensitive: {disease: [HIV]}}",
        why="Nobody knows all forty attributes of a stranger; to hide rows from one who knows all costs nearly"
        " all of them.",
        formula="for every set of at most l quasi-identifiers and every group g by it: |g| >= k, and for every"
        " sensitive attribute |rows of g with one of its values| / |g| <= c.",
        reference="Mohammed, Fung, Hung, Lee, Anonymizing healthcare data, KDD 2009, definition 3",
        bad="privacy:\n  lkc: {l: 1, k: 2, c: 1, sensitive: {disease: [HIV]}}   # c: 1 allows certainty",
        fix="Fewer or coarser quasi-identifiers; `mondrian` with l as many as there are quasi-identifiers keeps"
        " it for any smaller l as well.",
    ),
    "km_anonymity": Concept(
        REQUIREMENTS,
        "every combination of at most `m` items that occurs is in at least `k` sets",
        "k^m-anonymity of set-valued data (Terrovitis, Mamoulis, Kalnis, PVLDB 2008): whoever knows up to m items of"
        " somebody's set finds no set with all of them, or at least k. It is about sets as they are; of randomized ones"
        " say `itemset_breach`. Figure: `privacy.km_anonymity.k`, in sets.",
        "privacy:\n  km_anonymity: {k: 5, m: 2}",
        why="Two or three purchases that a neighbour saw find one basket among millions.",
        formula="for every itemset A with |A| <= m: supp(A) = 0 or supp(A) >= k.",
        reference="Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008",
        bad="privacy:\n  km_anonymity: {k: 5, m: 40}   # more than anybody knows: nothing would be left",
        fix="`roll_up` replaces items by categories; `limit_items` leaves rare ones out.",
    ),
}

"""Pages on what an attribute may be."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import ROLES, Concept

_DALENIUS = "Dalenius, Finding a needle in a haystack, Journal of Official Statistics 2(3), 1986"
_TERMS = "Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001"

ROLE_CONCEPTS: Mapping[str, Concept] = {
    "identifier": Concept(
        ROLES,
        "an attribute that names a person by itself, such as a name or a customer number",
        "It is dropped at the source unless a step replaces it (`pseudonymize`, `generalize`); one that would reach a"
        " release under its own values is an error (PPF550).",
        "attributes:\n  customer_id: {role: identifier}",
        why="Whoever holds a list of names needs no other attribute to find a person's row.",
        reference=_TERMS,
        bad="attributes:\n  customer_id: {role: insensitive}   # would be published as it is",
        fix="Declare it as `identifier`. Recipients who must tell rows of one person apart get a pseudonym:"
        " `ppdm-flow explain pseudonymize`.",
    ),
    "quasi_identifier": Concept(
        ROLES,
        "an attribute that others may know from elsewhere, and by which a person could be found among the rows",
        "`privacy.k_anonymity` counts rows over all of them unless it names its own.",
        "attributes:\n  age: {role: quasi_identifier, type: integer}",
        why="Date of birth, sex and postal code together single out most people of a country, though none of them names"
        " anybody. What is not declared as a quasi-identifier is taken as unknown to everybody.",
        reference=_DALENIUS,
        bad="attributes:\n  zip: {role: insensitive}   # in every phone book",
        fix="Ask of each column whether neighbours, employers or public registers know it; if so, it is one.",
    ),
    "sensitive": Concept(
        ROLES,
        "an attribute that nobody should be able to conclude about a person",
        "Protect it with `privacy.templates`, `l_diversity`, `t_closeness` or `privacy.sensitivities`: k-anonymity"
        " alone does not (PPF551).",
        "attributes:\n  disease: {role: sensitive}\nprivacy:\n  l_diversity:\n    disease: {l: 3}",
        why="In a group of people who look alike and all have one disease, nobody can be found and everybody is known.",
        reference="Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-diversity, ACM TKDD 1(1), 2007",
        bad="attributes:\n  disease: {role: sensitive}\nprivacy:\n  k_anonymity: {k: 5}   # says nothing of diseases",
        fix="State a requirement about it. An attribute that is known to others as well as harmful is a"
        " quasi-identifier that a template names under `sensitive`.",
    ),
    "target": Concept(
        ROLES,
        "the class that the wanted analysis predicts; class-aware steps and audits look at it",
        "It is published like an insensitive attribute. `classification_error` measures how well it can still be"
        " predicted.",
        "attributes:\n  rating: {role: target}",
        why="Steps that know what the data is for can keep what matters for it, and hide the rest first.",
        reference="Wang, Fung, Yu, Template-based privacy preservation in classification problems, ICDM 2005",
        bad="attributes:\n  rating: {role: target}\n  age: {role: target}   # one of them is what is predicted",
        fix="Name one. Where it is also known to others or harmful, its own role goes before: quasi-identifier or"
        " sensitive.",
    ),
    "insensitive": Concept(
        ROLES,
        "an attribute that neither finds nor harms a person; it is published as it is",
        "No requirement looks at it unless it names it.",
        "attributes:\n  ward_floor: {role: insensitive}",
        why="It is the strongest claim of all roles: that nobody can know the values, and that nobody minds them.",
        reference=_TERMS,
        bad="attributes:\n  admission_date: {role: insensitive}   # visitors, colleagues and ambulances know it",
        fix="In doubt choose `quasi_identifier`: it costs utility; the wrong role costs people.",
    ),
    "weight": Concept(
        ROLES,
        "the number of equal rows that a row of a collapsed table stands for",
        "Counts and suppression work on the collapsed table. A step that randomizes rows writes them out singly first.",
        "attributes:\n  count: {role: weight, type: integer}",
        why="A row with a weight of 40 is a crowd, and one with a weight of 1 is a person.",
        reference="Wang, Fung, Yu, Template-based privacy preservation in classification problems, ICDM 2005, table 1",
        bad="attributes:\n  count: {role: insensitive, type: integer}   # each row would count as one person",
        fix="Give the column that holds the counts this role; it takes whole numbers of at least 1.",
    ),
    "subject": Concept(
        ROLES,
        "the person that a row belongs to, where a person has several rows",
        "Requirements count rows, so they are refused where a subject is declared (PPF562).",
        "attributes:\n  patient: {role: subject}",
        why="Five rows of one person are no crowd: k = 5 would hold, and the person be alone.",
        reference="Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008",
        bad="attributes:\n  patient: {role: identifier}   # true, but five visits of one patient would count as five",
        fix="Bring the table to a row for each person, for instance with the visits as a set (`role: items`).",
    ),
    "items": Concept(
        ROLES,
        "the set-valued column of transaction data",
        "A row holds a set: what somebody bought, took, watched. `itemset_breach` and `km_anonymity` are about it.",
        "attributes:\n  products: {role: items}",
        why="A few items known of somebody usually single out the whole set, and the set then tells the rest.",
        reference="Evfimievski, Srikant, Agrawal, Gehrke, Privacy preserving mining of association rules, KDD 2002",
        bad="attributes:\n  products: {role: quasi_identifier}   # a set is no value that rows could share",
        fix="Read the column as sets: `format: transactions`, `baskets`, `long`, or a list column in Parquet.",
    ),
}

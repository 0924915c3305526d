"""The page on what the adversary is assumed to know, and on what exact posteriors say beyond that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ppdm_flow.api.concept import Concept


class Posterior(NamedTuple):
    """Of one kind of step: the largest exact ``posterior``, how far one ``exceeds`` what is measured, and ``why``."""

    kind: str
    posterior: float
    exceeds: float
    why: str = ""


_MINIMALITY = (
    "minimality: finer classes were not made, so in them some share must have been too large. Whoever takes each label"
    " at its word gains nothing"
)
_FREQUENCIES = (
    "the published operator is made for the table's frequencies, and so tells them: what is bounded is the step from a"
    " prior to its posterior, and this moves the prior"
)

POSTERIORS = (
    Posterior("unchanged, renamed", 0.6667, 0.0),
    Posterior("generalize, mask", 0.6667, 0.0),
    Posterior("recode, of the secret", 0.6667, 0.0),
    Posterior("suppress, rare secrets", 0.6667, 0.0),
    Posterior("suppress, cells of small classes", 0.6667, 0.0),
    Posterior("suppress, rows of small classes", 0.6667, 0.0),
    Posterior("full_domain_recoding, for k", 0.6667, 0.0),
    Posterior("full_domain_recoding, for shares", 0.6667, 0.0207, _MINIMALITY),
    Posterior("mondrian, for k", 0.6667, 0.0),
    Posterior("mondrian, for shares", 0.6667, 0.0316, _MINIMALITY),
    Posterior("progressive_disclosure", 0.6667, 0.0207, _MINIMALITY),
    Posterior("microaggregation, of the secret", 0.6667, 0.0),
    Posterior("microaggregation, of what is known", 0.6667, 0.0),
    Posterior("microaggregation, of both", 0.6667, 0.0),
    Posterior("assign_class_id, of both", 0.6, 0.0),
    Posterior("assign_class_id, of the secret", 0.6667, 0.0),
    Posterior("pseudonymize, of what is known", 0.6667, 0.0),
    Posterior("sample", 0.6061, 0.0),
    Posterior("swap, of the secret", 0.6667, 0.0),
    Posterior("fine_grain_perturbation, uniform", 0.6634, 0.0),
    Posterior("fine_grain_perturbation", 0.9685, 0.3051, _FREQUENCIES),
)


def _table() -> str:
    lines = ["| kind of step | largest exact posterior | exceeds what is measured by | why |", "|---|---|---|---|"]
    lines += [f"| {p.kind} | {p.posterior:.4f} | {p.exceeds:.4f} | {p.why} |" for p in POSTERIORS]
    return "\n".join(lines)


ASSUMPTION_CONCEPTS: Mapping[str, Concept] = {
    "assumptions": Concept(
        "Risks of re-identification",
        "what the adversary of a requirement is taken to know, and what is left out of account",
        "A requirement names attributes of the source, and is measured on whatever in the releases was computed from"
        " them. The adversary knows:\n\n"
        "- the policy, the steps and how they work; not the key of a pseudonym or of a draw,\n"
        "- that a person is among the rows, and the person's values of the attributes that the requirement groups by;"
        " not the other rows,\n"
        "- every release of the run, which are joined and intersected by people, unless the policy says"
        " `recipients: apart`; releases over time are for the ledger.\n\n"
        "Cells that are a map of one value are decoded by the shares of values behind them; of all other cells"
        " (means, class ids, exchanged values) whoever can undo them is assumed to.\n\n"
        "Not credited is reasoning over why an algorithm chose this release and no other. How much that is worth was"
        " computed on tiny tables: every table of two columns (one known, one secret, three values each) and 5 rows (4"
        " where all draws are looked at) was put through a policy, and of each release the exact posterior of a"
        " person's secret was compared with the largest share that is measured, or for a perturbation with the"
        " posterior that its operator allows. The prior makes rows independent and every pair of values as likely as"
        " any other; random steps count by their exact likelihoods.\n\n"
        f"{_table()}\n\n"
        "Larger tables have more to choose from: the excess is an example of size, and no bound. The audit `minimality`"
        " looks at a release itself.",
    ),
}
"""The page, by the name that ``explain`` takes."""

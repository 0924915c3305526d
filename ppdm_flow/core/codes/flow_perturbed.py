"""PPF553 to PPF558, PPF646, PPF647: where an attribute is perturbed, what happens to it, what its operator tells."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_BOUNDED = (
    "attributes:\n"
    "  disease: {role: sensitive, domain: [flu, cold, HIV]}\n"
    "privacy:\n"
    "  sensitivities: {disease: {default: {tolerance: 3}}}\n"
)
"""A bounded attribute."""
_DECIDED = (
    "attributes:\n"
    "  age: {role: quasi_identifier}\n"
    "  disease: {role: sensitive, domain: [flu, cold, HIV]}\n"
    "privacy:\n"
    "  sensitivities: {disease: {default: {tolerance: 3}}}\n"
    "  templates: {hiv: {channel: [age], sensitive: {disease: [HIV]}, confidence: 0.2}}\n"
    "steps:\n"
)
"""Perturbed values by which another step would decide."""
_PUBLIC = (
    "attributes:\n"
    "  disease: {role: sensitive, domain: [flu, cold, HIV]}\n"
    "privacy:\n"
    "  sensitivities: {disease: {default: {%s}}}\n"
    "steps:\n"
    "  perturb: {use: fine_grain_perturbation}\n"
    "releases:\n"
    "  open: {path: open.csv, audience: public}"
)
"""A perturbed attribute that everybody gets."""

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF553",
        "a sensitivity without a perturbation",
        "`privacy.sensitivities` asks for (r1, r2) on an attribute that is released as it is. A warning.",
        "The requirement is judged from the operator that randomized the attribute; without one it cannot hold, and"
        " every run is withheld.",
        "Add a `fine_grain_perturbation` step, or drop the attribute before the release.",
        bad=(_BOUNDED + "releases:\n  study: {path: study.csv}"),
        good=(_BOUNDED + "steps:\n  perturb: {use: fine_grain_perturbation}\nreleases:\n  study: {path: study.csv}"),
    ),
    CodePage(
        "PPF554",
        "perturbed twice",
        "On the way to one place an attribute is randomized by two steps.",
        "The published operator would be that of one step, and estimates from it wrong; its bounds were computed for"
        " true values, not for perturbed ones.",
        "Keep one of the two steps: one that meets all bounds of the attribute is enough.",
        bad="privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}\n"
        "steps:\n"
        "  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}\n"
        "  again: {use: noise, with: {attribute: disease}}    # `noise`: a plugin",
        good="privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}\n"
        "steps:\n"
        "  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}",
    ),
    CodePage(
        "PPF555",
        "two draws of one value",
        "Two releases hold the same attribute, randomized by two different steps.",
        "Whoever holds both has two independent draws for each person: together they say more than either, and the"
        " bound holds for neither.",
        "Perturb once, before the branches part.",
        bad=(
            "attributes: {disease: {role: sensitive, domain: [flu, cold, HIV]}}\n"
            "privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}\n"
            "steps:\n"
            "  one: {use: fine_grain_perturbation, input: source}\n"
            "  two: {use: fine_grain_perturbation, input: source}\n"
            "releases:\n"
            "  a: {from: one, path: a.csv}\n"
            "  b: {from: two, path: b.csv}"
        ),
        good=(
            "attributes: {disease: {role: sensitive, domain: [flu, cold, HIV]}}\n"
            "privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}\n"
            "steps:\n"
            "  perturb: {use: fine_grain_perturbation}\n"
            "releases:\n"
            "  a: {from: perturb, path: a.csv}\n"
            "  b: {from: perturb, path: b.csv}"
        ),
    ),
    CodePage(
        "PPF556",
        "a draw and the truth",
        "One release holds an attribute perturbed, another holds it unperturbed.",
        "Rows of the two can be matched by their other attributes, so the perturbation protects nobody.",
        "Drop it from one of them, or release the perturbed one in both.",
        bad=(
            _BOUNDED + "steps:\n"
            "  perturb: {use: fine_grain_perturbation}\n"
            "releases:\n"
            "  open: {from: perturb, path: open.csv}\n"
            "  inside: {from: source, path: inside.csv}"
        ),
        good=(
            _BOUNDED + "steps:\n"
            "  perturb: {use: fine_grain_perturbation}\n"
            "releases:\n"
            "  open: {from: perturb, path: open.csv}\n"
            "  inside: {from: perturb, path: inside.csv}"
        ),
    ),
    CodePage(
        "PPF557",
        "changed after the perturbation",
        "An attribute is generalized, suppressed or otherwise changed after a step has randomized it.",
        "The operator that is published and audited no longer describes the released values.",
        "Put the perturbation last.",
        bad=(
            _BOUNDED + "steps:\n"
            "  perturb: {use: fine_grain_perturbation}\n"
            "  coarsen: {use: generalize, with: {attributes: {disease: {prefix: 1}}}}"
        ),
        good=(_BOUNDED + "steps:\n  perturb: {use: fine_grain_perturbation}"),
    ),
    CodePage(
        "PPF646",
        "a public operator made from frequencies",
        "The sensitivities of an attribute have `default: {tolerance}`, and a release that carries it is public.",
        "The operator of such a bound is made from how often each value occurs, and it leaves beside the data: whoever"
        " has it works out the exact counts of the original, so that one person more or less is certain.",
        "State `r1` and `r2` in place of `tolerance`, as `builtin:stated-value-perturbation` does; or drop the"
        " attribute from what is public.",
        bad=_PUBLIC % "tolerance: 3",
        good=_PUBLIC % "r1: 0.1, r2: 0.3",
    ),
    CodePage(
        "PPF647",
        "what an operator gives away",
        "The sensitivities of an attribute have `default: {tolerance}`, and it was released with its operator.",
        "The operator was made from how often each value occurs: its recipients know the exact counts of the original,"
        " and, from those of two releases, whether somebody was added or left out.",
        "Give such a release to nobody who must not know the counts; state `r1` and `r2` otherwise.",
        bad="privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}",
        good="privacy: {sensitivities: {disease: {default: {r1: 0.1, r2: 0.3}}}}",
    ),
    CodePage(
        "PPF558",
        "decisions by perturbed values",
        "A step decides what to change by an attribute that was randomized before. A warning.",
        "It sees noise: it suppresses more than needed, and in other places than needed.",
        "Put it before the perturbation.",
        bad=(_DECIDED + "  perturb: {use: fine_grain_perturbation}\n  suppress: {use: progressive_disclosure}"),
        good=(_DECIDED + "  suppress: {use: progressive_disclosure}\n  perturb: {use: fine_grain_perturbation}"),
    ),
)

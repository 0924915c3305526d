"""PPF644 and PPF645: which releases a gate is about."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_TWO = (
    "attributes: {age: {role: quasi_identifier}, outcome: {role: target}}\n"
    "steps: {fewer: {use: drop, with: {attributes: [outcome]}}}\n"
    "releases: {study: {from: source, path: study.csv}, open: {from: fewer, path: open.csv}}\n"
    "audits:\n  error: {use: classification_error, with: {target: outcome}}\n"
)

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF644",
        "a gate on a release that its audit cannot be measured on",
        "A gate is about every release of the policy unless it says otherwise, and one of them lacks what the audit of"
        " its figure measures.",
        "The gate would be judged on the other releases only, and that one would leave without it.",
        "Say which releases the gate is about: `releases: [NAME]`; what protects the other one is yours to decide.",
        bad=_TWO + "gates:\n  useful: {metric: error.error_increase, max: 0.05}",
        good=_TWO + "gates:\n  useful: {metric: error.error_increase, max: 0.05, releases: [study]}",
    ),
    CodePage(
        "PPF645",
        "releases of a gate that cannot be meant",
        "A gate names a release that there is none of, says twice which releases it is about (`RELEASE/NAME.FIGURE` and"
        " `releases:`), or names releases for a figure of a step.",
        "A step's figure is measured once, whichever releases it leads to; and of two answers one is wrong.",
        "Correct the name, or say it once.",
        bad=_TWO + "gates:\n  useful: {metric: study/error.error_increase, max: 0.05, releases: [study]}",
        good=_TWO + "gates:\n  useful: {metric: error.error_increase, max: 0.05, releases: [study]}",
    ),
)

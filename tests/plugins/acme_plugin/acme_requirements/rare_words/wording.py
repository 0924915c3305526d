"""What reports, plans and messages say of it."""

from __future__ import annotations

from ppdm_flow.plugins import Wording


def clause(requirement):
    return f"rare words of {requirement['attribute']} ≤ {requirement['max']:g}"


def advice(failure):
    return "Recode texts with rare words, or suppress them: names and places are mostly rare, what many have is not."


WORDING = Wording(label="rare words", clause=clause, advice=advice)

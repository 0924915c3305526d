"""What can be expected of the data under any steps."""

from __future__ import annotations

from ppdm_flow.plugins import Diagnostic


def foresee(requirement, view, people):
    if people < requirement.k:
        text = f"k = {requirement.k} cannot hold: there are {people} rows in all"
        yield Diagnostic("ACME13", text, requirement.span)
    for name in requirement.sensitive:
        values = len(view.counts([name]).counts)
        if values < requirement.p:
            text = f"p = {requirement.p} cannot hold: `{name}` has {values} values in all"
            yield Diagnostic("ACME13", text, requirement.span)

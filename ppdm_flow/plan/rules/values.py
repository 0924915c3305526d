"""Values that requirements name, of attributes whose columns hold numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.texts import canonical
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow


def spelled_numbers(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A value of a typed attribute is named as its column spells it: `5`, and not `5.0` or `05`."""
    kinds = {a.name: a.type for a in flow.plan.source.attributes if a.type.is_numeric}
    for requirement in flow.plan.requirements:
        for attribute, value, span in dict.fromkeys(requirement.named_values()):
            kind = kinds.get(attribute)
            spelling = value if kind is None else canonical(value, kind)
            if spelling == value:
                continue
            if spelling is None:
                text = f"`{value}` is no value of `{attribute}`, which is of `type: {kind}`"
                yield Diagnostic("PPF528", text, span, help="correct the value, or the attribute's type")
            else:
                text = f"`{value}` of `{attribute}` (`type: {kind}`) never occurs: that number is written `{spelling}`"
                yield Diagnostic("PPF528", text, span, hint=f"write `{spelling}`")

"""Kinds of requirements whose code raises; what it says must never be shown, for it may be a value."""

from dataclasses import replace
from typing import ClassVar

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.sdk.spec import Params, PluginSpec


def kind(name, called=None, **more):
    class Asked(Requirement):
        """How many."""

        kind: ClassVar[str] = called or name
        k: int = 1

    spec = RequirementSpec(
        name=name,
        requirement=Asked,
        entries=Entries.ONCE,
        order="broken_plugin.kinds:NO_ORDER",
        audit=PluginSpec(PluginInfo(name, Kind.AUDIT, "Measures nothing."), Params, "broken_plugin.kinds:Nothing"),
        wording=Wording(label=name, clause=lambda requirement: "nothing", advice=lambda failure: ""),
    )
    return replace(spec, **more)


def unbound():
    spec = kind("raising_bind")

    class Asked(spec.requirement):
        """How many."""

        def bound(self, place):
            raises()

    return replace(spec, requirement=Asked)


def raises(*args):
    raise KeyError("secret value")


def raises_late(*args):
    yield from ()
    raise KeyError("secret value")


class Nothing:
    def __init__(self, params):
        raise KeyError("secret value")


NO_ORDER = Order(says=lambda requirement, frame: iter(()), rules=(), fields=frozenset(("k",)))
RAISING_ORDER = Order(says=raises, rules=(), fields=frozenset(("k",)))
WRONG = kind("another_name")
JUDGE = kind("raising_judge", judge=raises_late)
BIND = unbound()
WORDS = kind("raising_words", wording=Wording(label="", clause=raises, advice=raises))
ORDER = kind("raising_order", order="broken_plugin.kinds:RAISING_ORDER")

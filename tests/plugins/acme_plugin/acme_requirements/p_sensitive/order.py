"""What an entry claims: classes of so many rows, and so many values of each attribute in them.

The claims are those of k-anonymity and l-diversity, so that their rules compare all three.
"""

from __future__ import annotations

from ppdm_flow.plugins import Order
from ppdm_flow.policy.order.marks import entry_itself
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity


def says(requirement, frame):
    attributes = requirement.attributes
    yield from entry_itself(KAnonymity.of("", k=requirement.k, attributes=attributes), frame)
    for name in requirement.sensitive:
        yield from entry_itself(LDiversity.of("", name, l=float(requirement.p), attributes=attributes), frame)


ORDER = Order(says=says, fields=("p", "k", "sensitive", "attributes"), bounds=("p", "k"))

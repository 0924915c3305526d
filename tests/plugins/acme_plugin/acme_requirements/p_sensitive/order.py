"""What an entry claims: classes of so many rows, and so many values of each attribute in them.

The claims are of the kinds that k-anonymity and l-diversity make, so that their rules compare all three.
"""

from __future__ import annotations

from ppdm_flow.plugins import Order
from ppdm_flow.requirements.k_anonymity.spec import ClassSizeClaim
from ppdm_flow.requirements.l_diversity.requirement import Diversity
from ppdm_flow.requirements.l_diversity.spec import DiversityClaim


def says(requirement, frame):
    attributes = frozenset(requirement.attributes)
    yield ClassSizeClaim(requirement.k, attributes)
    for name in requirement.sensitive:
        yield DiversityClaim(name, float(requirement.p), Diversity.DISTINCT, 0.0, attributes)


ORDER = Order(
    says=says,
    rules=(),
    fields=frozenset(("p", "k", "sensitive", "attributes")),
    bounds=frozenset(("p", "k")),
)

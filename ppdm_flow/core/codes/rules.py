"""PPF500 to PPF549: rules that a policy must meet by itself."""

from __future__ import annotations

from ppdm_flow.core.codes.rules_attributes import PAGES as ATTRIBUTES
from ppdm_flow.core.codes.rules_classes import PAGES as CLASSES
from ppdm_flow.core.codes.rules_requirements import PAGES as REQUIREMENTS
from ppdm_flow.core.codes.rules_sets import PAGES as SETS
from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = tuple(sorted((*REQUIREMENTS, *ATTRIBUTES, *SETS, *CLASSES), key=lambda page: page.code))

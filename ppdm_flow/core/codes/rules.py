"""PPF500 to PPF549, PPF575 to PPF577, PPF580 to PPF586 and PPF590 to PPF598: rules that a policy meets by itself."""

from __future__ import annotations

from ppdm_flow.core.codes.rules_attributes import PAGES as ATTRIBUTES
from ppdm_flow.core.codes.rules_classes import PAGES as CLASSES
from ppdm_flow.core.codes.rules_files import PAGES as FILES
from ppdm_flow.core.codes.rules_itemsets import PAGES as ITEMSETS
from ppdm_flow.core.codes.rules_ledger import PAGES as LEDGER
from ppdm_flow.core.codes.rules_ledger_place import PAGES as LEDGER_PLACE
from ppdm_flow.core.codes.rules_requirements import PAGES as REQUIREMENTS
from ppdm_flow.core.codes.rules_sets import PAGES as SETS
from ppdm_flow.core.page import CodePage

_EVERY = (*REQUIREMENTS, *ATTRIBUTES, *SETS, *ITEMSETS, *CLASSES, *LEDGER, *LEDGER_PLACE, *FILES)
PAGES: tuple[CodePage, ...] = tuple(sorted(_EVERY, key=lambda page: page.code))

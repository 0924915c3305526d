"""The addresses of hierarchies: below the policy's, with ``attribute`` and ``upload`` behind the question mark."""

from __future__ import annotations

from ppdm_flow.page.http.access import STEWARDS
from ppdm_flow.page.http.route import asks, changes, reads
from ppdm_flow.page.views.hierarchies.counting import check_file, count_values, show_counting
from ppdm_flow.page.views.hierarchies.groups import change_groups, save_groups, show_groups
from ppdm_flow.page.views.hierarchies.intervals import count_intervals, save_intervals, show_intervals
from ppdm_flow.page.views.hierarchies.listing import list_hierarchies
from ppdm_flow.page.views.hierarchies.rules import save_rule, show_rule, try_rule

_PLACE = "/policies/{policy:path}/hierarchies"
_ORDER = {"order": 2**20}
"""The values of an attribute, one a line."""

ROUTES = (
    reads(_PLACE, list_hierarchies, STEWARDS),
    reads(f"{_PLACE}/intervals", show_intervals, STEWARDS),
    asks(f"{_PLACE}/intervals/counts", count_intervals, STEWARDS),
    asks(f"{_PLACE}/intervals", save_intervals, STEWARDS),
    reads(f"{_PLACE}/rules", show_rule, STEWARDS),
    asks(f"{_PLACE}/rules/labels", try_rule, STEWARDS, _ORDER),
    asks(f"{_PLACE}/rules", save_rule, STEWARDS, _ORDER),
    reads(f"{_PLACE}/groups", show_groups, STEWARDS),
    changes(
        f"{_PLACE}/groups/change",
        change_groups,
        STEWARDS,
        "hierarchies.draft",
        "policy",
        long_fields={"member": 200_000},
    ),
    changes(f"{_PLACE}/groups", save_groups, STEWARDS, "hierarchies.save", "policy"),
    reads(f"{_PLACE}/counting", show_counting, STEWARDS),
    changes(f"{_PLACE}/count", count_values, STEWARDS, "hierarchies.count", "policy"),
    changes(f"{_PLACE}/check", check_file, STEWARDS, "hierarchies.check", "policy"),
)

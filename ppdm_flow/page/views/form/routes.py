"""From a file to a policy.

====================================  ==========================================================================
``/form/new``                         which uploaded table; POST: has it looked at (the job ``profile``)
``/form/draft/{job}``                 what was found as a form; POST: makes the policy
``/policies/{policy:path}/form``      form and YAML side by side; POST: brings them in step, keeping nothing
``/policies/{policy:path}/form/save`` writes the text with the form's changes
====================================  ==========================================================================
"""

from __future__ import annotations

from ppdm_flow.page.http.access import STEWARDS
from ppdm_flow.page.http.route import ANY_FIELD, asks, changes, reads
from ppdm_flow.page.views.form import drafting, showing

_ONE = "/policies/{policy:path}/form"
_TEXTS = {"text": 2**21, "base": 2**21, ANY_FIELD: 200_000}
"""The policy's text, the one that the form was made from, and entries as YAML."""

ROUTES = (
    reads("/form/new", drafting.choose, STEWARDS),
    changes("/form/new", drafting.begin, STEWARDS, "form.profile"),
    reads("/form/draft/{job}", drafting.show_draft, STEWARDS),
    changes("/form/draft/{job}", drafting.make, STEWARDS, "form.make"),
    reads(_ONE, showing.show_form, STEWARDS),
    asks(_ONE, showing.fill, STEWARDS, _TEXTS),
    changes(f"{_ONE}/save", showing.save, STEWARDS, "form.save", "policy", long_fields=_TEXTS),
)

"""The addresses of policies. ``{policy:path}`` is a name that ``site.policies`` lists, such as ``credit/bank.yaml``.

=========================================  =====================================================================
``/policies``                              the list
``/policies/{policy:path}``                one policy: its state, what is wrong, its steps as a graph
``/policies/{policy:path}/edit``           the editor (GET); saves a text (POST: ``text``, ``digest``)
``/policies/{policy:path}/propose``        shows a proposed text as a difference, with what it weakens, and a button
                                           that applies it. POST: ``text`` (the whole proposed text), ``digest`` (of
                                           the text it was made from), ``back`` (an address of the page, optional).
                                           GET: ``set`` (``privacy.k_anonymity.k=5``) and ``unset``, each as often as
                                           needed, for links
=========================================  =====================================================================

Templates and code make addresses with ``policy_address(name, "edit")``; other features may have addresses below a
policy's too (``/policies/{policy:path}/form``), and find it with ``known_policy(call)``.
"""

from __future__ import annotations

from ppdm_flow.page.http.access import STEWARDS_AND_APPROVERS
from ppdm_flow.page.http.route import reads
from ppdm_flow.page.views.policies.listing import list_policies, show_policy

ROUTES = (
    reads("/policies", list_policies, STEWARDS_AND_APPROVERS),
    reads("/policies/{policy:path}", show_policy, STEWARDS_AND_APPROVERS),
)

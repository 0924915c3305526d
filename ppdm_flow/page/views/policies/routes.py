"""The addresses of policies. ``{policy:path}`` is a name that ``site.policies`` lists, such as ``credit/bank.yaml``.

=========================================  =====================================================================
``/policies``                              the list
``/policies/{policy:path}``                one policy: its state, what is wrong, its steps as a graph
``/policies/{policy:path}/edit``           the editor (GET); saves a text (POST: ``text``, ``digest``, ``back``)
``/policies/{policy:path}/check``          what is wrong with a text, as a part of a page (POST: ``text``)
``/policies/{policy:path}/propose``        shows a proposed text as a difference, with what it weakens, and a button
                                           that applies it. POST: ``text`` (the whole proposed text), ``digest`` (of
                                           the text it was made from), ``back`` (an address of the page, optional).
                                           GET: ``set`` (``privacy.k_anonymity.k=5``) and ``unset`` (a path), each as
                                           often as needed, or ``changes`` (JSON of ``policy.edit.changes.to_json``),
                                           or ``version`` (the number of an earlier one), and ``back``
``/policies/{policy:path}/changes``        compared with the last commit, or with a ``version``
=========================================  =====================================================================

Templates and code make addresses with ``policy_address(name, "edit")``; other features may have addresses below a
policy's too (``/policies/{policy:path}/form``), and find it with ``known_policy(call)``.
"""

from __future__ import annotations

from ppdm_flow.page.http.access import STEWARDS, STEWARDS_AND_APPROVERS
from ppdm_flow.page.http.route import asks, changes, reads
from ppdm_flow.page.views.policies import editing, listing, managing, proposing, testing, versions, words

_ONE = "/policies/{policy:path}"
_TEXT = {"text": 2**21}
"""A policy's text: how long one may be is a setting of the server, and refused with a sentence of its own."""

ROUTES = (
    reads("/policies", listing.list_policies, STEWARDS_AND_APPROVERS),
    reads("/policies/new", managing.new, STEWARDS),
    changes("/policies/new", managing.create, STEWARDS, "policies.create"),
    reads("/policies/removed", managing.list_removed, STEWARDS),
    changes("/policies/removed/{version}", managing.restore, STEWARDS, "policies.restore", "version"),
    reads("/policies/commit", versions.show_commit, STEWARDS),
    changes("/policies/commit", versions.commit, STEWARDS, "policies.commit", long_fields={"message": 20_000}),
    reads("/policies/words", words.words, STEWARDS),
    reads(f"{_ONE}/edit", editing.edit, STEWARDS),
    changes(f"{_ONE}/edit", editing.save, STEWARDS, "policies.save", "policy", long_fields=_TEXT),
    asks(f"{_ONE}/check", editing.check, STEWARDS, _TEXT),
    reads(f"{_ONE}/propose", proposing.propose, STEWARDS),
    asks(f"{_ONE}/propose", proposing.propose_text, STEWARDS, _TEXT),
    reads(f"{_ONE}/changes", versions.show_changes, STEWARDS_AND_APPROVERS),
    reads(f"{_ONE}/history", versions.show_history, STEWARDS_AND_APPROVERS),
    reads(f"{_ONE}/resolved", listing.show_resolved, STEWARDS_AND_APPROVERS),
    changes(f"{_ONE}/rename", managing.rename, STEWARDS, "policies.rename", "policy"),
    changes(f"{_ONE}/remove", managing.remove, STEWARDS, "policies.remove", "policy"),
    changes(f"{_ONE}/test", testing.run_tests, STEWARDS, "policies.test", "policy"),
    reads(_ONE, listing.show_policy, STEWARDS_AND_APPROVERS),
)

"""What the journal says of policies that come to be: their names, once there are such policies."""

from __future__ import annotations

from sites import Server

from ppdm_flow.page.services.accounts.roles import PageRole


def test_a_policy_that_was_made_or_restored_is_named_and_one_that_was_not_is_not(server: Server):
    browser = server.browser(PageRole.STEWARD)
    browser.send("/policies/new", name="ward", start="frame")
    browser.send("/policies/new", name="../canary", start="frame")
    digest = server.site.policies.read("ward.yaml").digest
    browser.send("/policies/ward.yaml/remove", digest=digest)
    version = server.site.policies.history.removed()[0].number
    browser.send(f"/policies/removed/{version}")
    entries = [(e.action, e.subject, e.outcome) for e in server.site.journal.newest(4)]
    assert entries == [
        ("policies.restore", "ward.yaml", "done"),
        ("policies.remove", "ward.yaml", "done"),
        ("policies.create", "", "refused"),
        ("policies.create", "ward.yaml", "done"),
    ]

"""Characters that turn the writing in a policy: what is compared shows them, what is written keeps them."""

from __future__ import annotations

import re
from html import unescape

from sites import Server
from small_policies import write_policy

from ppdm_flow.page.services.accounts.roles import PageRole

TURNED = "  k_anonymity: {k: 2} # \u202e}5 :k{\n"


def test_a_line_that_looks_like_another_is_seen_in_the_difference_and_saved_as_it_is(server: Server):
    policy = write_policy(server.folder / "policies")
    browser, text = server.browser(PageRole.STEWARD), policy.read_text()
    turned = text.replace("  k_anonymity: {k: 5}\n", TURNED)
    page = browser.send("/policies/ward.yaml/propose", text=turned).text
    assert "<code>  k_anonymity: {k: 2} # \ufffd}5 :k{</code>" in page
    written = re.search(r'<textarea name="text"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)[1]
    digest = re.search(r'name="digest" value="(\w+)"', page)[1]
    browser.send("/policies/ward.yaml/edit", text=unescape(written), digest=digest)
    assert policy.read_text() == turned
    editor = browser.get("/policies/ward.yaml/edit").text
    assert TURNED.strip() in unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", editor, re.DOTALL)[1])

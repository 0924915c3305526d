"""Signing in by OpenID Connect, against a provider that runs here and lies as a test says."""

from __future__ import annotations

import html
import re
import threading
import time
from queue import Queue
from urllib.parse import parse_qs, urlsplit

import openid_provider
import pytest
from joserfc import jwt
from openid_provider import CLIENT, SECRET, FakeProvider
from sites import CHEAP, PASSWORD, PATIENCE, Browser

from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.app import application
from ppdm_flow.page.services.accounts import links
from ppdm_flow.page.services.accounts.links import Identity
from ppdm_flow.page.services.accounts.passwords import new_word
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.openid import open_id as provider_module
from ppdm_flow.page.services.openid.configuration import SECONDS, FlowRefusedError, Flows, read_configuration
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import opened_site

pytestmark = pytest.mark.server(quick=1)
"""The provider listens on a port."""
BACK = "/sign-in/openid/back"
AT_ONCE = provider_module._AT_ONCE


@pytest.fixture
def provider():
    with openid_provider.running(FakeProvider()) as running:
        yield running


@pytest.fixture
def site(tmp_path, provider):
    (tmp_path / "secret").write_text(SECRET + "\n")
    file = tmp_path / "oidc.toml"
    file.write_text(
        f'issuer = "{provider.issuer}"\nclient_id = "{CLIENT}"\nclient_secret_file = "secret"\n'
        'address = "http://127.0.0.1:8471"\nlabel = "Example"\n'
    )
    site = opened_site(Settings(tmp_path / "p", tmp_path / "r", tmp_path / "s", oidc=file, **CHEAP))
    site.accounts.add("root", [PageRole.ADMINISTRATOR], PASSWORD)
    return site


def _there(browser: Browser, link: str = "") -> str:
    answer = browser.get("/sign-in/openid", **({"link": link} if link else {}))
    assert answer.status_code == 303
    return answer.headers["location"]


def _invited(site, provider, subject: str = "248289761001", name: str = "Anna") -> Browser:
    """Invite somebody who links an identity; the browser is signed in."""
    _, link = site.people.links.invite(name, [PageRole.STEWARD])
    browser = Browser(site)
    answer = _linked(browser, provider, link, subject)
    assert (answer.status_code, answer.headers.get("location")) == (303, "/?said=accounts.opened"), answer.text
    return browser


def _question(browser: Browser, provider, link: str, subject: str):
    """Sign in at the provider with a link, and return the page that asks whether to link the identity."""
    asked = browser.get(BACK, **provider.sign_in(_there(browser, link), subject))
    assert asked.status_code == 200, asked.text
    return asked


def _linked(browser: Browser, provider, link: str, subject: str):
    """Link an identity to the account of a link; return the answer to the form."""
    return browser.send("/sign-in/openid/link", proof=_proof(_question(browser, provider, link, subject)))


def _proof(page) -> str:
    return html.unescape(re.search(r'name="proof" value="([^"]+)"', page.text)[1])


def _figures_sql(site, provider, subject: str = "248289761001"):
    browser = Browser(site)
    return browser, browser.get(BACK, **provider.sign_in(_there(browser), subject))


@pytest.mark.slow
def test_an_invitation_links_an_identity_that_signs_in_from_then_on(site, provider):
    first = _invited(site, provider)
    assert "Anna" in first.get("/account").text
    assert 'name="old_password"' not in first.get("/account").text, "there is none to change"
    browser, answer = _figures_sql(site, provider)
    assert answer.headers["location"] == "/"
    assert "Anna" in browser.get("/account").text
    assert [(e.account, e.outcome) for e in site.journal.newest(2)] == [("Anna", "done")] * 2
    page = Browser(site).get("/sign-in").text
    assert "Sign in with Example" in page


def test_what_goes_to_the_provider(site, provider):
    address = _there(Browser(site))
    query = parse_qs(urlsplit(address).query)
    assert address.startswith(f"{provider.issuer}/authorize?")
    assert query["scope"] == ["openid"]
    assert query["redirect_uri"] == ["http://127.0.0.1:8471/sign-in/openid/back"]
    assert SECRET not in address
    assert len({_there(Browser(site)) for _ in range(3)}) == 3


@pytest.mark.slow
def test_an_identity_that_nobody_linked_is_refused(site, provider):
    browser, answer = _figures_sql(site, provider)
    assert answer.status_code == 403
    assert "No account is linked" in answer.text
    assert browser.get("/account").headers["location"] == "/sign-in"
    assert [(e.account, e.action, e.outcome) for e in site.journal.newest(1)] == [
        (None, "accounts.sign_in_openid", "refused")
    ]


def test_a_locked_account_is_refused_its_identity(site, provider):
    _invited(site, provider)
    site.accounts.lock(site.accounts.named("Anna").id)
    assert _figures_sql(site, provider)[1].status_code == 403


def test_an_identity_that_is_unlinked_while_it_signs_in_is_not_signed_in(site, provider, monkeypatch):
    _invited(site, provider)
    known = links.Identities.user

    def user(self, identity):
        found = known(self, identity)
        self.unlink(identity, found.id)
        return found

    monkeypatch.setattr(links.Identities, "user", user)
    browser, answer = _figures_sql(site, provider)
    assert answer.status_code == 403
    assert browser.get("/account").headers["location"] == "/sign-in"


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "http://127.0.0.1:1"},
        {"aud": "another-client"},
        {"aud": []},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"azp": "another"},
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": ["another"]},
        {"exp": int(time.time()) - 120},
        {"exp": "never"},
        {"exp": None},
        {"iat": int(time.time()) + 86_400},
        {"iat": int(time.time()) - 3600},
        {"iat": None},
        {"iat": -(10**400)},
        {"nbf": int(time.time()) + 86_400},
        {"sub": ""},
        {"sub": None},
        {"sub": 7},
        {"sub": ["x"]},
        {"sub": {"x": 1}},
        {"sub": "x" * 256},
    ],
    ids=[*map(str, range(23))],
)
def test_a_token_that_does_not_fit_is_refused(site, provider, claims):
    _invited(site, provider)
    provider.claims = lambda good: {name: v for name, v in {**good, **claims}.items() if v is not None}
    browser, answer = _figures_sql(site, provider)
    assert answer.status_code == 403
    assert browser.get("/account").headers["location"] == "/sign-in"


def test_a_nonce_among_others_is_refused(site, provider):
    _invited(site, provider)
    provider.claims = lambda good: {**good, "nonce": [good["nonce"]]}
    assert _figures_sql(site, provider)[1].status_code == 403


@pytest.mark.parametrize("claims", [{}, {"aud": [CLIENT]}, {"aud": [CLIENT, "another"], "azp": CLIENT}, {"extra": {}}])
def test_a_token_that_fits_is_taken(site, provider, claims):
    _invited(site, provider)
    provider.claims = lambda good: {**good, **claims}
    assert _figures_sql(site, provider)[1].status_code == 303


@pytest.mark.parametrize("lie", ["unsigned", "another key", "shared secret", "changed", "no token", "two parts"])
def test_a_token_that_is_not_genuine_is_refused(site, provider, lie):
    _invited(site, provider)

    def changed(claims):
        head, _, tail = provider.signed(claims).split(".")
        return ".".join([head, provider.signed({**claims, "sub": "root"}).split(".")[1], tail])

    provider.sign = {
        "unsigned": openid_provider.unsigned,
        "another key": openid_provider.signed_by_another,
        "shared secret": openid_provider.signed_with_public_key(provider),
        "changed": changed,
        "no token": lambda _claims: "no token",
        "two parts": lambda claims: provider.signed(claims).rpartition(".")[0],
    }[lie]
    browser, answer = _figures_sql(site, provider)
    assert answer.status_code == 403
    assert browser.get("/account").headers["location"] == "/sign-in"


def test_what_came_back_once_does_not_come_back_again(site, provider):
    _invited(site, provider)
    provider.refuses_used_codes = False
    browser = Browser(site)
    brought = provider.sign_in(_there(browser), "248289761001")
    before = browser.client.cookies["ppdm_flow_visit"]
    assert browser.get(BACK, **brought).status_code == 303
    assert browser.get(BACK, **brought).status_code == 403, "under the new session"
    browser.client.cookies.clear()
    browser.client.cookies.set("ppdm_flow_visit", before, domain="127.0.0.1", path="/")
    asked = len(provider.requests)
    assert browser.get(BACK, **brought).status_code == 403, "under the visit before"
    assert len(provider.requests) == asked, "the code is not even shown to the provider"


def test_a_code_that_was_used_elsewhere_is_refused_by_the_provider(site, provider):
    _invited(site, provider)
    browser = Browser(site)
    brought = provider.sign_in(_there(browser), "248289761001")
    provider.used.add(brought["code"])
    assert browser.get(BACK, **brought).status_code == 502


def test_what_another_browser_began_is_refused(site, provider):
    _invited(site, provider)
    thief, victim = Browser(site), Browser(site)
    brought = provider.sign_in(_there(thief), "248289761001")
    victim.get("/sign-in")
    assert victim.get(BACK, **brought).status_code == 403
    mixed = provider.sign_in(_there(victim), "248289761001")
    assert victim.get(BACK, code=brought["code"], state=mixed["state"]).status_code == 502, "PKCE holds a foreign code"


@pytest.mark.parametrize(
    "brought", [{}, {"state": "x"}, {"state": "..."}, {"code": "x"}, {"state": "a.b.c.d", "code": "x"}, {"state": "é"}]
)
def test_what_nobody_began_is_refused(site, brought):
    assert Browser(site).get(BACK, **brought).status_code == 403


def test_what_somebody_declined_signs_nobody_in(site, provider):
    browser = Browser(site)
    state = provider.sign_in(_there(browser), "x")["state"]
    answer = browser.get(BACK, state=state, error="access_denied", error_description="<script>alert(1)</script>")
    assert answer.status_code == 403
    assert "alert(1)" not in answer.text


def test_a_state_is_good_for_ten_minutes(site):
    now = [1_000_000.0]
    flows = Flows(site.database, lambda: now[0])
    early, late = flows.begin("word"), flows.begin("word")
    now[0] += SECONDS - 1
    assert flows.take("word", early.state).verifier == early.verifier
    now[0] += 2
    with pytest.raises(FlowRefusedError):
        flows.take("word", late.state)
    with pytest.raises(FlowRefusedError):
        flows.take("word", late.state.replace(str(int(1_000_000 + SECONDS)), str(9_999_999_999)))


@pytest.mark.slow
def test_an_invitation_is_used_once_and_an_identity_opens_one_account(site, provider):
    _invited(site, provider)
    _, link = site.people.links.invite("Berta", [PageRole.ADMINISTRATOR])
    browser = Browser(site)
    assert _linked(browser, provider, link, "248289761001").status_code == 403
    assert site.people.links.find(link).user.name == "Berta", "an attempt that was refused does not use the link"
    first, second = Browser(site), Browser(site)
    proofs = [_proof(_question(each, provider, link, subject)) for each, subject in ((first, "b"), (second, "c"))]
    assert first.send("/sign-in/openid/link", proof=proofs[0]).status_code == 303
    assert second.send("/sign-in/openid/link", proof=proofs[1]).status_code == 404
    assert _there(second, link), "a link that is gone is found out on the way back"
    assert second.get(BACK, **provider.sign_in(_there(second, link), "c")).status_code == 404
    assert [i.subject for i in site.people.identities.of(site.accounts.named("Berta").id)] == ["b"]


def test_another_site_links_no_identity_to_an_account_of_its_own(site, provider):
    attacker, link = site.people.links.invite("Mallory", [PageRole.GUEST])
    victim = Browser(site)
    asked = _question(victim, provider, link, "victim")  # as an address on another site leads there, and back
    assert "Mallory" in asked.text
    assert provider.issuer in asked.text
    assert "<code>victim</code>" in asked.text
    assert site.people.identities.of(attacker.id) == [], "nothing was changed by asking for addresses"
    assert site.people.links.find(link).user == attacker
    proof = _proof(asked)
    assert victim.client.post("/sign-in/openid/link", data={"proof": proof}).status_code == 403, "no token"
    forged = {"proof": proof, "form_token": victim.token()}
    headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert victim.client.post("/sign-in/openid/link", data=forged, headers=headers).status_code == 403
    assert site.people.identities.of(attacker.id) == []
    assert victim.get("/account").headers["location"] == "/sign-in"


def test_a_proof_is_of_one_visit_unchanged_and_of_the_last_minutes(site, provider):
    _, link = site.people.links.invite("Anna", [PageRole.GUEST])
    first, second = Browser(site), Browser(site)
    proof = _proof(_question(first, provider, link, "a"))
    subject, until, link_hash, signature = proof.split(".")
    other = _proof(_question(second, provider, link, "b"))
    for wrong in (
        other,
        "",
        "...",
        "é",
        f"{other.split('.')[0]}.{until}.{link_hash}.{signature}",
        f"{subject}.{int(until) + 600}.{link_hash}.{signature}",
        f"{subject}.{until}.{'0' * 64}.{signature}",
    ):
        assert first.send("/sign-in/openid/link", proof=wrong).status_code == 403
    flows = site.openid._flows
    flows._now = lambda: time.time() + SECONDS + 1
    assert first.send("/sign-in/openid/link", proof=proof).status_code == 403
    flows._now = time.time
    assert first.send("/sign-in/openid/link", proof=proof).status_code == 303
    longest = _question(
        Browser(site), provider, site.people.links.invite("Zoë", [PageRole.GUEST])[1], "\U0001f600" * 255
    )
    assert longest.status_code == 200


def test_no_word_of_a_visit_turns_one_proof_into_another(server):
    """The visitor chooses the word; with blanks in it, a part of the proof could pass for the end of the word."""
    flows = Flows(server.site.database)
    word, made_up = new_word(), "eHl6" * 3
    for between in (" ", "\n", '", "', "."):
        chosen = f"{word}{between}{made_up}"
        proof = flows.take(chosen, flows.begin(chosen).state).proof("23")
        assert flows.subject(chosen, proof) == ("23", "")
        for taken in (f"{made_up}{between}{proof}", f"{made_up}{proof}", f"{made_up[:-1]}!{proof}"):
            with pytest.raises(FlowRefusedError):
                flows.subject(word, taken)


def test_an_owner_unlinks_an_identity_that_is_not_the_only_way_in(site, provider):
    browser = _invited(site, provider)
    anna = site.accounts.named("Anna").id
    one = {"issuer": provider.issuer, "subject": "248289761001"}
    kept = browser.send("/account/unlink", **one)
    assert kept.status_code == 400
    assert "the only way into your account" in kept.text
    with site.database.changing() as connection:
        links.link(connection, Identity(provider.issuer, "lost"), anna)
    other, _ = _figures_sql(site, provider, "lost")
    assert other.get("/account").status_code == 200
    assert browser.send("/account/unlink", issuer=provider.issuer, subject="nobody").status_code == 404
    assert browser.send("/account/unlink", issuer=provider.issuer, subject="lost").status_code == 303
    assert other.get("/account").headers["location"] == "/sign-in", "it may have been begun with that identity"
    assert browser.get("/account").status_code == 200
    assert _figures_sql(site, provider, "lost")[1].status_code == 403
    assert _figures_sql(site, provider)[1].status_code == 303


def test_an_administrator_unlinks_identities_but_not_the_last_of_all_administrators(site, provider):
    _invited(site, provider)
    anna, root = site.accounts.named("Anna"), Browser(site, site.accounts.named("root"))
    address, one = f"/accounts/{anna.id}/unlink", {"issuer": provider.issuer, "subject": "248289761001"}
    assert root.send(f"/accounts/{root.user.id}/unlink", **one).status_code == 404, "it is linked to another account"
    signed_in, _ = _figures_sql(site, provider)
    site.accounts.set_roles(anna.id, [PageRole.ADMINISTRATOR])
    site.accounts.set_roles(root.user.id, [PageRole.GUEST])
    assert signed_in.send(address, **one).status_code == 400
    site.accounts.set_roles(root.user.id, [PageRole.ADMINISTRATOR])
    assert root.send(address, **one).status_code == 303
    assert signed_in.get("/account").headers["location"] == "/sign-in"
    assert _figures_sql(site, provider)[1].status_code == 403
    entry = site.journal.newest(1, action="accounts.unlink")[0]
    assert (entry.account, entry.subject, entry.outcome) == ("root", "Anna", "done")


def test_a_link_takes_the_place_of_every_way_in_before(site, provider):
    browser = _invited(site, provider)
    anna = site.accounts.named("Anna").id
    shown = Browser(site, site.accounts.named("root")).send(f"/accounts/{anna}/link").text
    assert "are unlinked when the link is used" in shown
    word = re.search(r"/open/([\w-]+)", shown)[1]
    assert Browser(site).send(f"/open/{word}", password=PASSWORD, password_again=PASSWORD).status_code == 303
    assert browser.get("/account").headers["location"] == "/sign-in"
    assert _figures_sql(site, provider)[1].status_code == 403, "the identity of before"
    second = Browser(site)
    answer = _linked(second, provider, site.people.links.renew(anna), "another")
    assert answer.status_code == 303
    assert site.accounts.signed_in("Anna", PASSWORD) is None, "the password of before"
    assert [identity.subject for identity in site.people.identities.of(anna)] == ["another"]


@pytest.mark.slow
def test_keys_that_change_are_asked_for_again_but_not_each_time(site, provider):
    _invited(site, provider)
    provider.keys.append(openid_provider.elliptic())
    provider.sign = lambda claims: jwt.encode({"alg": "ES256", "kid": "two"}, claims, provider.keys[1])
    assert _figures_sql(site, provider)[1].status_code == 403, "so soon after the last question none is asked"
    site.openid._provider._now = lambda: time.monotonic() + 61  # a minute later
    assert _figures_sql(site, provider)[1].status_code == 303
    assert provider.requests.count("/keys") == 2


def test_private_keys_of_a_provider_are_not_looked_at(site, provider):
    public = provider.public
    provider.public = lambda: {"keys": [*public()["keys"], openid_provider.foreign_key().as_dict(private=True)]}
    _invited(site, provider)
    assert len(site.openid._provider.keys().keys) == 1
    provider.public = lambda: {"keys": [openid_provider.own_key().as_dict(private=True)]}
    site.openid._provider._now = lambda: time.monotonic() + 7_200  # the keys of before are not kept so long
    assert _figures_sql(site, provider)[1].status_code == 502


@pytest.mark.parametrize(
    "broken",
    [b"", b"no JSON", b"[]", b"[" * 100_000, b'{"issuer": "' + b"x" * 2**21 + b'"}', b'{"issuer": 7}', b"\xff\xfe"],
    ids=["empty", "text", "list", "deep", "large", "number", "bytes"],
)
def test_a_provider_that_answers_nonsense_signs_nobody_in(site, provider, broken):
    provider.broken = broken
    answer = Browser(site).get("/sign-in/openid")
    assert answer.status_code == 502
    assert "cannot be reached" in answer.text


@pytest.mark.parametrize(
    "description",
    [
        {"issuer": "http://127.0.0.1:1"},
        {"token_endpoint": "http://login.example.org/token"},
        {"token_endpoint": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": None},
    ],
    ids=str,
)
def test_a_provider_that_describes_itself_falsely_is_not_used(site, provider, description):
    provider.description = description
    assert Browser(site).get("/sign-in/openid").status_code == 502


@pytest.fixture
def silence(provider):
    """Let the provider answer nothing until the test says so, or ends."""
    provider.silent = threading.Event()
    yield provider.silent
    provider.silent.set()


def _sign_in_pages(site, times: int) -> tuple[Queue[int], list[threading.Thread]]:
    """Ask so many times at once to be sent to the provider; the queue gets the status of each answer."""
    statuses: Queue[int] = Queue()
    app = application(site)

    def ask(number: int) -> None:
        statuses.put(Browser(site, app=app, host=f"10.0.0.{number}").get("/sign-in/openid").status_code)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(times)]
    for thread in threads:
        thread.start()
    return statuses, threads


def test_a_silent_provider_holds_few_threads(site, silence):
    statuses, threads = _sign_in_pages(site, AT_ONCE + 5)
    assert [statuses.get(timeout=PATIENCE) for _ in range(5)] == [502] * 5, "without waiting for the others"
    assert statuses.empty()
    silence.set()
    assert [statuses.get(timeout=PATIENCE) for _ in range(AT_ONCE)] == [303] * AT_ONCE
    for thread in threads:
        thread.join()


def test_a_provider_that_did_not_answer_is_not_asked_again_at_once(site, provider, silence, monkeypatch):
    with monkeypatch.context() as impatient:
        impatient.setattr(provider_module, "_SECONDS", 0.2)
        for _ in range(3):
            assert Browser(site).get("/sign-in/openid").status_code == 502
    assert len(provider.requests) == 1
    silence.set()
    site.openid._provider._now = lambda: time.monotonic() + 11  # ten seconds later
    assert Browser(site).get("/sign-in/openid").status_code == 303


def test_people_who_sign_in_at_once_are_all_sent_to_the_provider(site):
    statuses, threads = _sign_in_pages(site, AT_ONCE)
    assert [statuses.get(timeout=PATIENCE) for _ in threads] == [303] * AT_ONCE


@pytest.mark.slow
def test_guesses_at_the_way_back_are_limited_by_address(site, provider):
    statuses, app = [], application(site)
    for _ in range(40):
        browser = Browser(site, app=app)
        state = parse_qs(urlsplit(_there(browser)).query)["state"][0]
        statuses.append(browser.get(BACK, state=state, code="guess").status_code)
    assert statuses[:30] == [502] * 30
    assert 429 in statuses[30:]


def test_without_a_provider_there_is_none(server):
    browser = server.browser(None)
    assert browser.get("/sign-in/openid").status_code == 404
    assert browser.get(BACK, state="x", code="y").status_code == 404
    assert "openid" not in browser.get("/sign-in").text


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("issuer = ", ["is no TOML"]),
        ("", ["has no `issuer`", "has no `client_id`", "has no `address`"]),
        ('issuer = "http://login.example.org"\nclient_id = "x"\naddress = "https://a.example"', ["`issuer`"]),
        ('issuer = "https://login.example.org"\nclient_id = 7\naddress = "https://a.example"', ["`client_id`"]),
        ('issuer = "https://l.example"\nclient_id = "x"\naddress = "https://u@a.example"', ["`address`"]),
        (
            'issuer = "https://l.example"\nclient_id = "x"\naddress = "https://a.example"\nclient_secret = "x"',
            ["unknown"],
        ),
        (
            'issuer = "https://l.example"\nclient_id = "x"\naddress = "https://a.example"\nclient_secret_file = "none"',
            ["cannot be read"],
        ),
        (
            'issuer = "https://l.e"\nclient_id = "x"\naddress = "https://a.example"\nclient_secret_variable = "V"',
            ["the variable `V`"],
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_all_its_faults(tmp_path, text, faults):
    file = tmp_path / "oidc.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_configuration(file, {})
    told = [diagnostic.message for diagnostic in caught.value.diagnostics]
    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {"PPF998"}
    assert all(any(re.escape(fault) in re.escape(message) for message in told) for fault in faults)


def test_a_secret_comes_from_a_variable_and_is_not_shown(tmp_path):
    file = tmp_path / "oidc.toml"
    file.write_text(
        'issuer = "https://l.example/x"\nclient_id = "x"\naddress = "https://a.example/"\nclient_secret_variable = "V"'
    )
    read = read_configuration(file, {"V": SECRET})
    assert read.client_secret == SECRET
    assert SECRET not in repr(read)
    assert (read.label, read.redirect_uri) == ("l.example", f"https://a.example{BACK}")


def test_nobody_makes_a_proof_of_their_own(site):
    """The visitor knows the word of the visit: the provider's word must not be made from it."""
    now = time.time()
    own = Flows(site.database)
    flow = own.begin("a word of the visit", "a link")
    proof = flow.proof("the subject of somebody else")
    assert own.subject("a word of the visit", proof)[0] == "the subject of somebody else"
    for flows in (site.openid._flows, Flows(site.database)):
        with pytest.raises(FlowRefusedError):
            flows.subject("a word of the visit", proof)
    for text in ("", ".", "a.b.c.d", f"x.{int(now) + 60}.", f"{'.' * 50}"):
        with pytest.raises(FlowRefusedError):
            site.openid._flows.subject("a word of the visit", text)
        with pytest.raises(FlowRefusedError):
            site.openid._flows.take("a word of the visit", text)


@pytest.mark.slow
def test_what_strangers_send_in_vain_does_not_fill_the_journal(site):
    browser = Browser(site)
    before = len(site.journal.newest(10_000))
    for _ in range(80):
        assert browser.send("/sign-in/openid/link", proof="nothing").status_code in (403, 429)
    assert len(site.journal.newest(10_000)) - before <= 62

"""``ppdm-flow serve``: how it starts, what it refuses, how it stops."""

from __future__ import annotations

import datetime as dt
import http.client
import ipaddress
import json
import signal
import ssl
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from serving import in_thread, process
from sites import CHEAP, PATIENCE
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from ppdm_flow.cli.main import main
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.app import application
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.serving import tls
from ppdm_flow.page.serving.server import address_of, configured, listening, serve, state_held, upkeep
from ppdm_flow.page.serving.tls import fingerprint, with_own_certificate
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import opened_site


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    for name in ("policies", "runs"):
        (tmp_path / name).mkdir()
    return Settings(tmp_path / "policies", tmp_path / "runs", tmp_path / "state", port=0, **CHEAP)


def certificate(folder: Path, password: bytes | None = None) -> dict[str, Path]:
    """Make a certificate of 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    lock = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    files = {"tls_cert": folder / "web.crt", "tls_key": folder / "web.key"}
    files["tls_cert"].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files["tls_key"].touch(0o600)
    files["tls_key"].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock))
    return files


def get(address: str, path: str, **headers: str) -> http.client.HTTPResponse:
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)) as client:
        client.request("GET", path, headers=headers)
        answer = client.getresponse()
        answer.read()
        return answer


@pytest.mark.slow
@pytest.mark.server(quick=1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_stops_well(tmp_path, number):
    with process(tmp_path) as started:
        assert started.address.startswith("http://127.0.0.1:")
        assert started.link.startswith(f"{started.address}/open/")
        assert get(started.link, urlsplit(started.link).path).status == 200
        assert get(started.address, "/").status == 303
        assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
        assert started.stop(number) == 0
        assert "Traceback" not in started.process.stdout.read()


@pytest.mark.server
def test_a_state_has_one_server_and_a_killed_one_leaves_it_free(tmp_path):
    with process(tmp_path) as first:
        with process(tmp_path) as second:
            assert second.process.wait(PATIENCE) == 2
            assert "PPF990" in "".join(second.said)
        assert get(first.address, "/sign-in").status == 200
        first.stop(signal.SIGKILL)
    with process(tmp_path) as again:
        assert get(again.address, "/sign-in").status == 200
        assert again.link != first.link
        assert get(again.address, urlsplit(first.link).path).status == 404


@pytest.mark.server
def test_who_has_the_files_can_make_another_administrator(tmp_path):
    with process(tmp_path) as first:
        first.stop()
    site = opened_site(Settings(tmp_path / "policies", tmp_path / "runs", tmp_path / "state", **CHEAP))
    site.accounts.add("lost", [PageRole.ADMINISTRATOR], "nobody knows it any more")
    with process(tmp_path) as started:
        assert not any("/open/" in line for line in started.said)
    with process(tmp_path, "--new-administrator") as started:
        assert get(started.link, urlsplit(started.link).path).status == 200


def refused(settings: Settings) -> str:
    """Return the code with which a server is not started."""
    with pytest.raises(PpdmError) as raised:
        serve(settings, lambda address, link: pytest.fail(f"it was started at {address}"))
    assert raised.value.exit_status == 2
    (diagnostic,) = raised.value.diagnostics
    return diagnostic.code


def test_folders_must_be_there_apart_and_private(settings, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "policies")
    (tmp_path / "open").mkdir(mode=0o755)
    for changed in (
        {"runs": tmp_path / "none"},
        {"policies": tmp_path / "none"},
        {"runs": settings.policies},
        {"runs": tmp_path / "link"},
        {"policies": tmp_path},
        {"state": settings.runs / "state"},
        {"state": tmp_path},
        {"state": tmp_path / "runs" / ".." / "policies" / "state"},
        {"state": tmp_path / "open"},
    ):
        assert refused(replace(settings, **changed)) == "PPF988", changed
    assert not (settings.runs / "state").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "example.org"])
def test_other_machines_need_encryption(settings, host):
    assert refused(replace(settings, host=host)) == "PPF989"


def test_a_proxy_is_an_address_of_its_own(settings):
    for proxy in ("*", "0.0.0.0/0", "::/0", "proxy.example.org", "nonsense"):
        assert refused(replace(settings, proxy=proxy, names=("a.example",))) == "PPF989"


def test_the_name_must_be_known_where_the_address_does_not_say_it(settings, tmp_path):
    assert refused(replace(settings, host="0.0.0.0", **certificate(tmp_path))) == "PPF993"
    assert refused(replace(settings, proxy="127.0.0.1")) == "PPF993"


def test_certificate_and_key_must_fit(settings, tmp_path):
    files = certificate(tmp_path)
    (tmp_path / "other").mkdir()
    other = certificate(tmp_path / "other")
    (tmp_path / "locked").mkdir()
    locked = certificate(tmp_path / "locked", b"a passphrase")
    (tmp_path / "bad.pem").write_text("no certificate")
    for changed in (
        {"tls_cert": files["tls_cert"]},
        {"tls_key": files["tls_key"]},
        {"tls_cert": files["tls_cert"], "tls_key": other["tls_key"]},
        {"tls_cert": tmp_path / "bad.pem", "tls_key": files["tls_key"]},
        {"tls_cert": tmp_path / "none", "tls_key": files["tls_key"]},
        locked,
    ):
        assert refused(replace(settings, **changed)) == "PPF992", changed
    files["tls_key"].chmod(0o644)
    assert refused(replace(settings, **files)) == "PPF992"


def test_a_taken_port_and_a_wrong_address_are_told(settings):
    with listening(settings) as place:
        assert refused(replace(settings, port=place.getsockname()[1])) == "PPF991"
    assert refused(replace(settings, host="127.0.0.1.2")) == "PPF989"


@pytest.mark.slow
def test_a_missing_package_is_told(tmp_path):
    blocked = (
        "import sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'uvicorn':\n"
        "            raise ModuleNotFoundError('blocked', name=name)\n"
        "sys.meta_path.insert(0, Blocker())\n"
        "from ppdm_flow.cli.main import main\n"
        "main()\n"
    )
    words = ["serve", "--policies", str(tmp_path), "--runs", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", blocked, *words], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 2
    assert "PPF723" in done.stderr
    assert "ppdm_flow[page]" in done.stderr
    done = subprocess.run(
        [sys.executable, "-c", blocked, "serve", "--help"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.server
def test_with_a_certificate_all_is_encrypted(settings, tmp_path):
    files = certificate(tmp_path)
    words = [f"--{name.replace('_', '-')}={file}" for name, file in files.items()]
    with process(tmp_path, *words) as started:
        assert started.address.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=str(files["tls_cert"]))
        place = urlsplit(started.address).netloc
        with closing(http.client.HTTPSConnection(place, timeout=PATIENCE, context=context)) as client:
            client.request("GET", "/sign-in")
            answer = client.getresponse()
            answer.read()
        assert answer.status == 200
        assert "Secure" in answer.headers["set-cookie"]
        with pytest.raises((http.client.HTTPException, OSError)):
            get(started.address.replace("https", "http"), "/sign-in")


@pytest.mark.server
def test_one_option_serves_https_and_says_how_to_know_the_certificate(tmp_path):
    shown = []
    for _ in range(2):
        with process(tmp_path, "--tls", "--name", "page.localhost") as started:
            assert started.address.startswith("https://page.localhost:")
            assert not any("all ports" in line for line in started.said)
            shown += [line.rpartition(" ")[2] for line in started.said if "SHA-256" in line]
            cert = tmp_path / "state" / "tls.crt"
            assert shown[-1] == fingerprint(Settings(tmp_path, tmp_path, tmp_path / "state"))
            context = ssl.create_default_context(cafile=str(cert))
            port = urlsplit(started.address).port
            with closing(http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE, context=context)) as client:
                client.request("GET", "/sign-in", headers={"host": f"page.localhost:{port}"})
                answer = client.getresponse()
                answer.read()
            assert answer.status == 200
            assert "Secure" in answer.headers["set-cookie"]
            assert answer.headers["strict-transport-security"] is None, "browsers would not let people trust it"
            assert started.stop() == 0
    assert len(shown) == 2
    assert shown[0] == shown[1], "it is made once"
    assert stat.S_IMODE((tmp_path / "state" / "tls.key").stat().st_mode) == 0o600


def test_a_certificate_of_its_own_is_made_anew_for_other_names_and_before_its_time_is_over(settings, monkeypatch):
    settings.state.mkdir(mode=0o700)
    own = replace(settings, own_certificate=True)
    made = [fingerprint(with_own_certificate(own)) for _ in range(2)]
    made.append(fingerprint(with_own_certificate(replace(own, names=("release.example.org",)))))
    made.append(fingerprint(with_own_certificate(own)))
    monkeypatch.setattr(tls, "_RENEWED", dt.timedelta(days=400))
    made.append(fingerprint(with_own_certificate(own)))
    assert made[0] == made[1]
    assert len(set(made)) == 4
    assert with_own_certificate(settings) is settings
    with pytest.raises(PpdmError, match="PPF992"):
        with_own_certificate(replace(own, names=("größe.example",)))


def test_a_certificate_is_given_or_made(settings, tmp_path):
    assert refused(replace(settings, own_certificate=True, **certificate(tmp_path))) == "PPF992"


@pytest.mark.server
def test_over_http_it_says_what_other_ports_of_the_host_see(tmp_path):
    with process(tmp_path) as started:
        assert any("sends its session to all ports of this host" in line for line in started.said)


def test_only_the_proxy_is_believed_who_asks(settings):
    assert not configured(settings, application).proxy_headers
    behind = configured(replace(settings, proxy="10.0.0.1", names=("release.example.org",)), application)
    assert (behind.proxy_headers, behind.forwarded_allow_ips) == (True, "10.0.0.1")


def test_the_address_that_is_printed_is_the_one_for_browsers(settings, tmp_path):
    files = certificate(tmp_path)
    for changed, address in (
        ({}, "http://127.0.0.1:{port}"),
        ({"names": ("page.localhost",)}, "http://page.localhost:{port}"),
        ({"names": ("release.example.org",), **files}, "https://release.example.org:{port}"),
        ({"names": ("release.example.org",), "proxy": "127.0.0.1"}, "https://release.example.org"),
    ):
        with listening(settings) as place:
            port = place.getsockname()[1]
            assert address_of(replace(settings, **changed), place) == address.format(port=port)


def test_the_lock_is_held_for_as_long_as_the_server_runs(settings):
    with state_held(settings), pytest.raises(PpdmError, match="PPF990"), state_held(settings):
        pass
    with state_held(settings):
        pass


def test_upkeep_goes_on_after_a_failure(settings, monkeypatch, caplog):
    site = opened_site(settings)
    calls, again = [], Event()

    def tidy() -> None:
        calls.append(1)
        if len(calls) > 2:
            again.set()
        raise ValueError("a value")

    monkeypatch.setattr(site.uploads, "tidy", tidy)
    with upkeep(site, seconds=0.01):
        assert again.wait(PATIENCE)
    assert "ValueError" in caplog.text
    assert "a value" not in caplog.text


def test_options_reach_the_server(tmp_path, monkeypatch):
    seen: list[Settings] = []
    monkeypatch.setattr("ppdm_flow.page.serving.server.serve", lambda settings, ready: seen.append(settings))
    words = "serve --policies p --runs r --state s --port 0 --name a.example --name b.example --behind-proxy 10.0.0.1"
    with pytest.raises(SystemExit) as ended:
        main([*words.split(), "--upload-mb", "5", "--upload-hours", "2", "--jobs", "3"])
    assert ended.value.code == 0
    (settings,) = seen
    assert (settings.names, settings.proxy, settings.secure) == (("a.example", "b.example"), "10.0.0.1", True)
    assert (settings.upload_bytes, settings.upload_hours, settings.running_jobs) == (5 * 2**20, 2.0, 3)
    assert settings.state.is_absolute()


def test_other_verbs_import_nothing_of_the_server():
    """Nothing of the server is imported by other verbs."""
    code = (
        "import sys, json; from ppdm_flow.cli.program import program; program(('check',));"
        " print(json.dumps([n for n in sys.modules if n.startswith(('starlette', 'uvicorn', 'ppdm_flow.page'))]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert json.loads(done.stdout) == []


@pytest.mark.server(quick=1)
@pytest.mark.parametrize(
    ("proxy", "seen"),
    [("127.0.0.1", "203.0.113.9"), ("127.0.0.0/8", "203.0.113.9"), ("10.0.0.1", "127.0.0.1"), ("", "127.0.0.1")],
)
def test_who_asks_is_told_by_the_proxy_and_nobody_else(settings, proxy, seen):
    changed = replace(settings, proxy=proxy, names=("release.example.org",))
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse(request.client.host))])
    headers = {"X-Forwarded-For": "198.51.100.7, 203.0.113.9", "X-Forwarded-Proto": "https"}
    with (
        in_thread(changed, app) as port,
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as client,
    ):
        client.request("GET", "/", headers=headers)
        assert client.getresponse().read().decode() == seen

"""An object store of our own on this machine, with a proxy before it that can be told to fail."""

from __future__ import annotations

import http.client
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "AKIAZQACCESSKEYZQ"
SECRET = "zqsecretzq/key"
BUCKET = "data-of-patients"


@dataclass
class Faults:
    """What goes wrong: each is asked with method and path of a request."""

    refuse: Callable[[str, str], bool] = lambda _method, _path: False
    truncate: Callable[[str, str], bool] = lambda _method, _path: False
    stall: Callable[[str, str], bool] = lambda _method, _path: False
    corrupt: Callable[[str, str], bool] = lambda _method, _path: False
    before: Callable[[str, str], None] = lambda _method, _path: None
    after: Callable[[str, str], None] = lambda _method, _path: None


@dataclass
class ObjectStore:
    """A bucket at ``url``, the proxy's; ``direct`` is the store itself."""

    url: str
    direct: str
    client: Any
    faults: Faults = field(default_factory=Faults)
    requests: list[tuple[str, str]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to get at the bucket."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "PPDM_BUCKET_TIMEOUT": "300",
        }

    def put(self, key: str, content: bytes | str) -> None:
        """Write an object, past the proxy."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content if isinstance(content, bytes) else content.encode())

    def get(self, key: str) -> bytes:
        """Read an object, past the proxy."""
        return bytes(self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read())

    def keys(self, prefix: str = "") -> list[str]:
        """Return the keys that begin so."""
        found = self.client.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])
        return [each["Key"] for each in found]


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Start a store with one empty bucket, and stop it at the end."""
    import boto3  # only with this store
    from botocore.config import Config  # the same
    from moto.server import ThreadedMotoServer  # the same

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    direct = f"http://{host}:{port}"
    client = boto3.client(
        "s3",
        endpoint_url=direct,
        region_name="us-east-1",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        config=Config(s3={"addressing_style": "path"}),
    )
    client.create_bucket(Bucket=BUCKET)
    store = ObjectStore("", direct, client)
    proxy = _Proxy(store, host, port)
    store.url = f"http://127.0.0.1:{proxy.server_address[1]}"
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        yield store
    finally:
        proxy.shutdown()
        proxy.server_close()
        server.stop()


class _Proxy(ThreadingHTTPServer):
    """Passes requests on to a store, or fails as it is told."""

    daemon_threads = True

    def __init__(self, store: ObjectStore, host: str, port: int) -> None:
        self.store, self.behind = store, (host, port)
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: Any) -> None:
        """A client that is killed hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Proxy

    def log_message(self, *_: Any) -> None:
        pass

    def _pass(self) -> None:
        method, path, faults = self.command, self.path, self.server.store.faults
        body = _body(self)
        self.server.store.requests.append((method, path))
        faults.before(method, path)
        if faults.stall(method, path):
            self.rfile.read(1)  # until the client hangs up
            self.close_connection = True
            return
        if faults.refuse(method, path):
            self._answer(403, {"Content-Type": "application/xml"}, _DENIED)
            return
        status, headers, content = self._behind(method, path, body)
        if faults.corrupt(method, path) and content:
            content = content[:-1] + bytes([content[-1] ^ 1])
        if faults.truncate(method, path) and content:
            headers["Content-Length"] = str(len(content))
            content = content[: len(content) // 2]
            self.close_connection = True
        faults.after(method, path)
        self._answer(status, headers, content)

    def _behind(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(*self.server.behind)
        kept = {k: v for k, v in self.headers.items() if k.lower() not in ("connection", "transfer-encoding")}
        connection.request(method, path, body=body, headers={**kept, "Content-Length": str(len(body))})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        headers = {k: v for k, v in answer.getheaders() if k.lower() not in ("connection", "transfer-encoding")}
        return answer.status, headers, content

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        given = self.command == "HEAD" or self.close_connection
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() != "content-length" or given:
                self.send_header(name, value)
        if not given:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass  # names of the base class


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    """Return the body of a request, which comes in pieces where its length is not said."""
    if "chunked" not in (handler.headers.get("Transfer-Encoding") or ""):
        return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    parts = []
    while size := int(handler.rfile.readline().split(b";")[0] or b"0", 16):
        parts.append(handler.rfile.read(size))
        handler.rfile.readline()
    while handler.rfile.readline().strip():
        pass
    return b"".join(parts)


_DENIED = b"""<?xml version="1.0"?>
<Error><Code>AccessDenied</Code><Message>key AKIAZQACCESSKEYZQ may not</Message></Error>"""

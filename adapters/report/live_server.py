"""Serve the page about results on this machine, to whoever knows its address, while they arrive.

Only on loopback, only under a path that begins with a random token, only to requests that name
this machine as the host: a page of another site can neither read it nor guess where it is.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from socketserver import TCPServer
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

from classify.adapters.report.live_results import LiveResults
from classify.adapters.report.shell import PAGE, STYLES, Shell, html_page
from classify.errors import ClassifyError, InvalidInput
from classify.json_values import JSON

LOOPBACK = "127.0.0.1"
_PAUSE = 0.3
"""Seconds between looks at a file that has no more lines."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_WHOLE = re.compile(r"-?[0-9]{1,15}")


class LiveServer(ThreadingHTTPServer):
    """A page that is served while its results arrive; a context manager.

    Raises InvalidInput where the port is taken.
    """

    daemon_threads = True
    # On Windows it would let another program take the port over.
    allow_reuse_address = sys.platform != "win32"

    def __init__(self, results: LiveResults, *, port: int = 0) -> None:
        self.results = results
        self.token = secrets.token_urlsafe(24)
        self.page = _page(results.name)
        self.problem: str | None = None
        """Why reading the results ended, if it did."""
        self._stopped = Event()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise InvalidInput(f"port {port} cannot be used: {error.strerror}") from None
        Thread(target=self._read, name="results", daemon=True).start()

    @property
    def url(self) -> str:
        """The page's address, which is all that opens it."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"

    def server_bind(self) -> None:
        """Bind without asking for this machine's name, which may take a name server."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: object) -> None:
        """Let go without a word of a page that was closed in the middle of an answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Stop reading, and free the port."""
        self._stopped.set()
        super().server_close()

    def _read(self) -> None:
        while not self._stopped.is_set():
            try:
                more = self.results.step()
                self.problem = None
            except (ClassifyError, OSError) as error:
                more, self.problem = False, str(error)
            if not more:
                self._stopped.wait(_PAUSE)


class _Handler(BaseHTTPRequestHandler):
    timeout = 30
    server_version = "classify"
    sys_version = ""

    @property
    def _live(self) -> LiveServer:
        if not isinstance(self.server, LiveServer):
            raise AssertionError(f"served by {type(self.server).__name__}")
        return self.server

    def do_GET(self) -> None:
        """Answer the page, its news and the details of a row; all else is not found."""
        address = urlsplit(self.path)
        name = self._name(address.path)
        query = {key: values[-1] for key, values in parse_qs(address.query).items()}
        if name == "":
            self._send(self._live.page, "text/html; charset=utf-8")
        elif name == "news":
            news = self._live.results.news(
                query.get("generation", ""), _whole(query, "have"), query.get("version", "")
            )
            self._send_json({**news, "stopped": self._live.problem})
        elif name == "row":
            row = _whole(query, "row")
            self._send_json(self._live.results.detail(query.get("generation", ""), row))
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _name(self, path: str) -> str | None:
        """Return what is asked for under the token; None for any other request."""
        hosts = (f"{LOOPBACK}:{self._live.server_port}", f"localhost:{self._live.server_port}")
        # A name that an attacker makes point here would come with that name as the host.
        if self.headers.get("Host", "").lower() not in hosts:
            return None
        _, _, rest = path.partition("/")
        token, slash, name = rest.partition("/")
        known = secrets.compare_digest(token.encode(), self._live.token.encode())
        return name if known and slash else None

    def _send_json(self, value: JSON) -> None:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._send(_encoded(text), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer that there is nothing here, whatever was wrong with the request."""
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def end_headers(self) -> None:
        """Add what keeps the page from being stored, framed, or told of to others."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Write no log: addresses hold the token, and names of rows may hold what is judged."""


def _page(name: str) -> bytes:
    styles = (*STYLES, PAGE / "live.css")
    shell = Shell(name, PAGE / "live.js", styles, connects=True)
    return _encoded("".join(html_page(shell, [])))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # the name of a file may be no text


def _whole(query: Mapping[str, str], name: str) -> int:
    value = query.get(name, "")
    return int(value) if _WHOLE.fullmatch(value) else -1

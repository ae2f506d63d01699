"""The server of the live page: whom it answers, and with what."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Thread

import pytest

from classify.adapters.report.live_results import LiveResults
from classify.adapters.report.live_server import LOOPBACK, LiveServer
from classify.errors import InvalidInput
from tests.adapters.report.live_files import append, record


@pytest.fixture
def served(tmp_path: Path) -> Iterator[LiveServer]:
    """Serve three rows."""
    path = tmp_path / "out.jsonl"
    record(path)
    append(path, 0, 3)
    with LiveServer(LiveResults(path)) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: LiveServer, path: str, *, method: str = "GET", **headers: str
) -> tuple[HTTPResponse, bytes]:
    """Send one request, with the right host unless another is given."""
    connection = HTTPConnection(LOOPBACK, server.server_port, timeout=30)
    try:
        connection.putrequest(method, path, skip_host="host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def news(server: LiveServer, query: str = "") -> dict[str, object]:
    """Ask for news until all rows are told of."""
    while True:
        found: dict[str, object] = json.loads(ask(server, f"/{server.token}/news?{query}")[1])
        if found["caught_up"]:
            return found


def test_the_page_comes_under_its_token_with_headers_that_keep_it_here(served: LiveServer) -> None:
    """It may run its own script and ask its own server, and nothing else."""
    response, body = ask(served, f"/{served.token}/")

    assert 200 == response.status
    assert b"script-src 'sha256-" in body and b"connect-src 'self'" in body
    assert "no-store" == response.getheader("Cache-Control")
    assert "no-referrer" == response.getheader("Referrer-Policy")
    assert "DENY" == response.getheader("X-Frame-Options")
    assert response.getheader("Access-Control-Allow-Origin") is None
    assert f"http://127.0.0.1:{served.server_port}/{served.token}/" == served.url


def test_rows_and_their_details_are_given(served: LiveServer) -> None:
    """As the page asks for them."""
    found = news(served)

    generation = found["generation"]
    row = json.loads(ask(served, f"/{served.token}/row?generation={generation}&row=2")[1])
    assert 3 == found["total"]
    assert 2 == row["index"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_results_in_a_file_whose_name_is_no_text_are_served(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"out\xff.jsonl")
    record(path)
    append(path, 0, 3)

    with LiveServer(LiveResults(path)) as server:
        assert b"out?.jsonl" in server.page


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/", id="no token"),
        pytest.param("/wrong/", id="wrong token"),
        pytest.param("/TOKEN", id="no slash"),
        pytest.param("/x//TOKEN/", id="further down"),
        pytest.param("/TOKEN/../TOKEN/news", id="traversal"),
        pytest.param("/TOKEN/..%2f..%2fetc/passwd", id="escaped traversal"),
        pytest.param("/TOKEN/out.jsonl", id="the file"),
        pytest.param("/TOKEN/news/", id="more than the name"),
        pytest.param("/T%4fKEN/", id="escaped"),
        pytest.param("/favicon.ico", id="icon"),
    ],
)
def test_nothing_else_is_found(served: LiveServer, path: str) -> None:
    """With the same empty answer for all."""
    response, body = ask(served, path.replace("TOKEN", served.token))

    assert (404, b"") == (response.status, body)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil:PORT", ""],
)
def test_a_request_in_the_name_of_another_host_finds_nothing(served: LiveServer, host: str) -> None:
    """A page of another site, whose name was made to point here, has that name as its host."""
    response, body = ask(
        served, f"/{served.token}/", host=host.replace("PORT", str(served.server_port))
    )

    assert (404, b"") == (response.status, body)


def test_this_machines_name_is_a_host_too(served: LiveServer) -> None:
    """People type it."""
    response, _ = ask(served, f"/{served.token}/", host=f"localhost:{served.server_port}")

    assert 200 == response.status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "HEAD"])
def test_the_page_is_only_read(served: LiveServer, method: str) -> None:
    """No other method does anything."""
    response, body = ask(served, f"/{served.token}/", method=method)

    assert (404, b"") == (response.status, body)


def test_odd_questions_are_answered_and_end_nothing(served: LiveServer) -> None:
    """Numbers that are none, rows that are not there."""
    for query in ("have=-5", "have=abc", "have=99999999999999", "generation=%00&have=1"):
        assert 3 == news(served, query)["total"]
    for query in ("", "generation=x&row=0", "row=-1", "row=1e3"):
        assert b"null" == ask(served, f"/{served.token}/row?{query}")[1]


def test_each_server_has_another_token(tmp_path: Path, served: LiveServer) -> None:
    """An address of before opens nothing."""
    with LiveServer(LiveResults(tmp_path / "out.jsonl")) as other:
        assert other.token != served.token
        assert len(other.token) >= 32


def test_nothing_is_written_about_requests(
    served: LiveServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither those that are answered nor those that are not."""
    ask(served, f"/{served.token}/")
    ask(served, "/wrong/")

    assert ("", "") == capfd.readouterr()


def test_a_port_that_is_taken_is_named(tmp_path: Path, served: LiveServer) -> None:
    """With the reason."""
    results = LiveResults(tmp_path / "out.jsonl")

    with pytest.raises(InvalidInput, match=f"port {served.server_port} cannot be used"):
        LiveServer(results, port=served.server_port)

"""Nobody but the server's own page gets at it: acceptance of the guard over real HTTP and WebSockets."""

from __future__ import annotations

import http.client
import json
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from serving import STUDY, Page, Served, serving
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

SCENARIO = 'name = "a"\nduration = "1 s"\n[topology]\nkind = "graph"\n'

RUNNABLE = f"""{SCENARIO}
links = [{{ between = ["h1", "r1"], delay = "1 ms" }}, {{ between = ["r1", "h2"], rate = "9 Mbit/s", delay = "1 ms" }}]
nodes = {{ h1 = {{}}, h2 = {{}}, r1 = {{ kind = "router" }} }}
[[flows]]
from = "h1"
to = "h2"
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "a.toml").write_text(SCENARIO)
    outside = folder.parent / "outside.toml"
    outside.write_text("secret = 1\n")
    (folder / "link.toml").symlink_to(outside)
    (folder / "up").symlink_to(folder.parent)
    with serving(folder) as found:
        yield found


def without(headers: dict[str, str], *names: str, **more: str) -> dict[str, str]:
    return {**{key: value for key, value in headers.items() if key not in names}, **more}


def post(served: Served, **changed: Any) -> int:
    headers = without(served.headers, *(key for key, value in changed.items() if value is None))
    headers |= {key: value for key, value in changed.items() if value is not None}
    return served.ask("POST", "/api/files", {"do": "folder", "path": "never"}, headers)[0]


def test_the_page_itself_gets_through(served: Served) -> None:
    assert served.ask("GET", "/api/about")[0] == 200
    assert served.ask("GET", "/api/about", None, without(served.headers, "Origin", "Content-Type"))[0] == 200
    with served.page() as page:
        assert page.open("a.toml")["text"] == SCENARIO


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": None}, 403),
        ({"Origin": "https://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Cookie": None}, 401),
        ({"Cookie": "dumbbell-1=x"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost"}, 421),
        ({"Host": "d-0123456789abcdef.localhost"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Content-Type": None}, 415),
    ],
)
def test_a_request_that_another_page_could_make_is_refused(
    served: Served, changed: dict[str, Any], status: int
) -> None:
    assert post(served, **changed) == status
    assert not (served.root / "never").exists()


def test_a_page_of_another_port_is_another_page(served: Served) -> None:
    assert post(served, Origin=f"http://{served.access.hosts[0]}:{served.port + 1}") == 403


def test_no_name_that_other_ports_have_is_the_server(served: Served) -> None:
    """Behind them the cookie would go to whoever listens there, as browsers send cookies to all ports of a host."""
    for name in ("127.0.0.1", "localhost", "[::1]", f"x.{served.access.hosts[0]}", "d-0123456789abcdef.localhost"):
        host = f"{name}:{served.port}"
        headers = without(served.headers, Host=host, Origin=f"http://{host}")
        for path in ("/", "/api/about"):
            assert served.ask("GET", path, None, headers)[0] == 421
        headers = without(headers, "Cookie")
        assert served.ask("POST", "/api/login", {"token": served.access.token}, headers)[0] == 421


def test_both_addresses_of_the_loopback_are_the_servers(served: Served) -> None:
    """A browser may try either, and at a free one another user could listen."""
    with pytest.raises(OSError, match="in use"):
        socket.create_server(("::1", served.port), family=socket.AF_INET6)
    connection = http.client.HTTPConnection("::1", served.port, timeout=30)
    connection.request("GET", "/api/about", headers=served.headers)
    assert connection.getresponse().status == 200
    connection.close()


def test_reading_needs_the_cookie_and_no_other_page(served: Served) -> None:
    for path in ("/api/about", "/api/files", "/api/openapi.json", "/api/runs", "/api", "/api/nothing"):
        assert served.ask("GET", path, None, {})[0] == 401, path
        headers = without(served.headers, Origin="http://evil.example")
        assert served.ask("GET", path, None, headers)[0] == 403, path


@pytest.mark.parametrize("path", ["/%61pi/about", "//api/about", "/api//about", "/./api/about", "/API/about"])
def test_no_spelling_of_a_path_passes_the_guard(served: Served, path: str) -> None:
    status, _, content = served.ask("GET", path, None, {})
    assert status in (401, 404), content
    assert b"workspace" not in content


def refused_socket(served: Served, path: str, origin: str | None, headers: dict[str, str]) -> int:
    url = f"ws://{served.host}{path}"
    with (
        socket.create_connection(("127.0.0.1", served.port)) as own,
        pytest.raises(InvalidStatus) as refused,
        connect(url, sock=own, origin=origin, additional_headers=headers),  # type: ignore[arg-type]
    ):
        pass
    return refused.value.response.status_code


@pytest.mark.parametrize("path", ["/api/socket", "/api/terminals/0123456789abcdef"])
def test_a_websocket_is_guarded_as_well(served: Served, path: str) -> None:
    cookie = {"Cookie": served.headers["Cookie"]}
    other = f"http://{served.access.hosts[0]}:{served.port + 1}"
    host, own = served.host, served.origin
    alike = (
        f"https://{host}",
        f"{own}.evil.example",
        f"http://evil.{host}",
        f"http://evil@{host}",
        f"{own}/",
        "file://",
    )
    for origin in ("http://evil.example", f"http://127.0.0.1:{served.port}", other, *alike, "null", None):
        assert refused_socket(served, path, origin, cookie) == 403
    assert refused_socket(served, path, served.origin, {}) == 403
    assert refused_socket(served, path, served.origin, {"Cookie": f"{served.access.cookie}=x"}) == 403
    assert refused_socket(served, path, served.origin, {**cookie, "Sec-Fetch-Site": "same-site"}) == 403


def test_the_token_is_for_the_cookie(served: Served) -> None:
    headers = without(served.headers, "Cookie")
    status, _, content = served.ask("POST", "/api/login", {"token": "x" * 43}, headers)
    assert status == 401
    assert served.access.token.encode() not in content
    status, answer, _ = served.ask("POST", "/api/login", {"token": served.access.token}, headers)
    assert status == 200
    cookie = answer["set-cookie"]
    assert cookie.startswith(f"dumbbell-{served.port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert served.access.token not in cookie
    assert (
        served.ask("POST", "/api/login", {"token": served.access.token}, without(headers, Origin="http://evil"))[0]
        == 403
    )


def test_a_token_of_any_characters_is_no_mistake_of_the_server(served: Served) -> None:
    for token in ("", "ä" * 20, "\x00", "x" * 200):
        assert served.ask("POST", "/api/login", {"token": token})[0] == 401
    assert served.ask("POST", "/api/login", {"token": "x" * 5000})[0] == 413


def test_the_token_and_the_cookie_are_in_no_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    served.ask("POST", "/api/login", {"token": served.access.token})
    served.ask("GET", "/api/about?token=x")
    with served.page() as page:
        page.open("a.toml")
    assert served.access.token not in caplog.text


def test_answers_confine_the_page(served: Served) -> None:
    for path in ("/", "/api/about", "/api/nothing"):
        _, headers, _ = served.ask("GET", path)
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert not any(name.startswith("access-control") for name in headers)
    preflight = without(served.headers, "Cookie", **{"Access-Control-Request-Method": "POST"})
    status, headers, _ = served.ask("OPTIONS", "/api/files", None, preflight)
    assert status in (401, 405)
    assert not any(name.startswith("access-control") for name in headers)


def test_a_report_is_in_a_sandbox(served: Served) -> None:
    run = served.root / "runs" / "mine-0123456789ab"
    run.mkdir(parents=True)
    (run / "manifest.json").write_text(json.dumps({"name": "mine", "run_id": "0123456789ab"}))
    (run / "plan.json").write_text("{}")
    (run / "report.html").write_text("<script>fetch('/api/terminals', {method: 'POST'})</script>")
    status, headers, content = served.ask("GET", "/api/runs/mine-0123456789ab/report.html")
    assert status == 200, content
    policy = headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    # In a tab it could lead elsewhere: it is shown in a frame alone.
    assert headers["content-disposition"] == "attachment"
    for dest, shown in (("document", False), ("object", False), ("embed", False), ("iframe", True)):
        asked = {**served.headers, "Sec-Fetch-Dest": dest}
        _, headers, _ = served.ask("GET", "/api/runs/mine-0123456789ab/report.html", None, asked)
        assert ("content-disposition" not in headers) is shown, dest
    # What it could ask for all the same has this origin:
    assert post(served, Origin="null") == 403


@pytest.mark.parametrize(
    "path",
    ["../outside.toml", "a/../../outside.toml", "/etc/passwd", "link.toml", "up/outside.toml", "up", ".dumbbell/agreed",
     "..", "a\x00.toml", "./../outside.toml", "..\\outside.toml"],
)  # fmt: skip
def test_nothing_outside_the_workspace_is_read_or_written(served: Served, path: str) -> None:
    from urllib.parse import quote

    outside = served.root.parent / "outside.toml"
    before = sorted(os.listdir(served.root.parent))
    for asked in (f"/api/files?dir={quote(path)}", f"/api/export?as=toml&path={quote(path)}"):
        status, _, content = served.ask("GET", asked)
        assert status == 400, content
        assert b"secret" not in content
    for body in (
        {"do": "new", "path": path, "text": "x"},
        {"do": "copy", "path": "a.toml", "to": path},
        {"do": "copy", "path": path, "to": "b.toml"},
        {"do": "rename", "path": "a.toml", "to": path},
        {"do": "rename", "path": path, "to": "b.toml"},
        {"do": "delete", "path": path},
    ):
        assert served.ask("POST", "/api/files", body)[0] == 400, body
    assert served.ask("POST", "/api/plan", {"path": path})[0] == 400
    assert served.ask("POST", "/api/runs", {"path": path})[0] in (400, 404, 422)
    with served.page() as page:
        assert page.request(do="subscribe", topic=f"document/{path}")["type"] == "reject"
    assert outside.read_text() == "secret = 1\n"
    assert sorted(os.listdir(served.root.parent)) == before
    assert (served.root / "a.toml").read_text() == SCENARIO


def test_only_scenarios_are_written(served: Served) -> None:
    for path in ("evil.sh", ".bashrc", "runs/x", "a", ".toml", "b.toml/"):
        status, _, _ = served.ask("POST", "/api/files", {"do": "new", "path": path, "text": "x"})
        assert status == 400 or path == "b.toml/", path


def test_bodies_are_bounded(served: Served) -> None:
    assert served.ask("POST", "/api/files", b"x" * 9_100_000)[0] == 413
    headers = without(served.headers, **{"Content-Length": "99999999999"})
    assert served.ask("POST", "/api/files", b"x", headers)[0] == 413
    # A body that does not say its length is counted.
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    try:
        connection.request("POST", "/api/files", iter([b"x" * 1_000_000] * 12), served.headers, encode_chunked=True)
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # The answer came before all was sent, and the connection was closed.
    finally:
        connection.close()


def send_and_hear(page: Page, text: str) -> None:
    page.socket.send(text)
    page.hear()


def test_heads_messages_and_subscriptions_are_bounded(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as own:
        with suppress(ConnectionError):
            own.sendall(f"GET / HTTP/1.1\r\nHost: {served.host}\r\nX: ".encode() + b"x" * 1_000_000)
        with suppress(ConnectionError):
            assert own.recv(12) in (b"HTTP/1.1 400", b"")
    with served.page() as page, pytest.raises(ConnectionClosed):
        send_and_hear(page, "x" * 9_000_001)
    with served.page() as page:
        for number in range(101):
            page.socket.send(json.dumps({"id": number, "do": "subscribe", "topic": f"files/{number}"}))
        answers = [page.hear() for _ in range(101)]
        assert [one["id"] for one in answers if one["type"] == "reject"] == [100]


def test_deep_json_is_refused(served: Served) -> None:
    deep = b'{"do":' * 100_000
    assert served.ask("POST", "/api/files", deep)[0] in (400, 422)
    with served.page() as page:
        page.socket.send("[" * 100_000)
        assert page.hear()["type"] == "reject"
        value: Any = 1
        for _ in range(60):
            value = {"x": value}
        page.open("a.toml")
        assert page.command("a.toml", {"do": "set", "key": ["topology", "x"], "value": value})["type"] == "reject"
        assert page.command("a.toml", {"do": "set", "key": ["seed"], "value": None})["type"] == "reject"


def test_messages_that_are_none_end_nothing(served: Served) -> None:
    with served.page() as page:
        for text in ("", "x", "1", "[]", '{"id": 1}', '{"id": "x", "do": "subscribe", "topic": "files"}'):
            page.socket.send(text)
            assert page.hear()["type"] == "reject", text
        assert page.request(do="subscribe", topic="nothing/at/all")["type"] == "reject"
        assert page.request(do="subscribe", topic="document/nothing.toml")["type"] == "reject"
        assert page.open("a.toml")["text"] == SCENARIO
    with served.page() as page:
        page.socket.send(b"\x00\x01")
        with pytest.raises(Exception, match=r"."):
            page.hear()


def test_a_hundred_pages_do_not_exhaust_it(served: Served) -> None:
    pages = [served.page() for _ in range(32)]
    opened = []
    try:
        for page in pages:
            opened.append(page.__enter__())
            assert page.request(do="unsubscribe", topic="files")["type"] == "ack"
        cookie = {"Cookie": served.headers["Cookie"]}
        assert refused_socket(served, "/api/socket", served.origin, cookie) == 403
    finally:
        for page in opened:
            page.__exit__()


def test_programs_of_a_foreign_file_are_asked_about(served: Served) -> None:
    text = RUNNABLE.replace('"1 s"', '"2 s"') + 'command = "touch /tmp/never"\n'
    served.json("POST", "/api/files", {"do": "new", "path": "foreign.toml", "text": text, "foreign": True})
    with served.page() as page:
        state = page.open("foreign.toml")
        assert state["runs_programs"] == ["touch /tmp/never"]
        assert not state["trusted"]
        status, _, content = served.ask("POST", "/api/runs", {"path": "foreign.toml"})
        assert status == 428
        asked = json.loads(content)
        assert asked["programs"] == ["touch /tmp/never"]
        assert served.ask("POST", "/api/labs", {"path": "foreign.toml"})[0] == 428
        # What is agreed to is what was shown, and nothing else.
        served.json("POST", "/api/agree", {"programs": ["touch /tmp/never", "another"]})
        assert served.ask("POST", "/api/runs", {"path": "foreign.toml"})[0] == 428
        served.json("POST", "/api/agree", {"programs": asked["programs"]})
        assert page.until("foreign.toml", 1, trusted=True)
        # Other programs are asked about again, unless they are written here.
        (served.root / "foreign.toml").write_text(text.replace("never", "other"))
        state = page.until("foreign.toml", state["revision"] + 1)
        assert not state["trusted"]
        served.json("POST", "/api/agree", {"programs": state["runs_programs"]})
        page.until("foreign.toml", state["revision"], trusted=True)
        mine = page.do("foreign.toml", do="replace_text", text=text.replace("never", "mine"))
        assert page.until("foreign.toml", mine["revision"], trusted=True)["runs_programs"] == ["touch /tmp/mine"]


def test_what_the_user_writes_here_is_not_asked_about(served: Served) -> None:
    served.json("POST", "/api/files", {"do": "new", "path": "own.toml", "text": SCENARIO})
    with served.page() as page:
        page.open("own.toml")
        program = {"node": "h1", "command": "true"}
        # Nobody knows what the first texts start, and they are the user's all the same.
        page.do("own.toml", do="replace_text", text=SCENARIO + "# mine\n")
        page.do("own.toml", do="replace_text", text="name = ")
    with served.page() as page:
        assert page.open("own.toml")["trusted"]
        text = RUNNABLE + '[[programs]]\nnode = "h1"\ncommand = "true"\n'
        made = page.do("own.toml", do="replace_text", text=text)
        state = page.until("own.toml", made["revision"], problems=[])
        assert state["runs_programs"] == [program["command"]]
        assert state["trusted"]


def test_another_content_of_a_foreign_file_is_asked_about_again(served: Served) -> None:
    text = RUNNABLE.replace('kind = "router"', 'kind = "router", frr = "r1.conf"')
    (served.root / "r1.conf").write_text("! theirs\n")
    served.json("POST", "/api/files", {"do": "new", "path": "routed.toml", "text": text, "foreign": True})
    with served.page() as page:
        state = page.open("routed.toml")
        (first,) = state["runs_programs"]
        assert first.startswith("r1.conf, SHA-256 ")
        served.json("POST", "/api/agree", {"programs": [first]})
        page.until("routed.toml", state["revision"], trusted=True)
        (served.root / "r1.conf").write_text("! theirs, changed\n")
        status, _, content = served.ask("POST", "/api/labs", {"path": "routed.toml"})
        assert status == 428
        (second,) = json.loads(content)["programs"]
        assert second != first
        # A change of the text by the user is no agreement to what is in the file.
        mine = page.do("routed.toml", do="replace_text", text=f"{text}# mine\n")
        assert not page.until("routed.toml", mine["revision"], runs_programs=[second])["trusted"]
        assert served.ask("POST", "/api/labs", {"path": "routed.toml"})[0] == 428


def test_a_study_of_a_stranger_goes_on_only_after_a_question(served: Served) -> None:
    study = served.root / "studies" / "theirs-0123"
    study.mkdir(parents=True)
    (study / "study.json").write_text(json.dumps(STUDY))
    (study / "study.toml").write_text("")
    text = RUNNABLE + '[sweep]\n"flows.0.command" = ["touch /tmp/theirs"]\n'
    (study / "scenario.toml").write_text(text)
    status, _, content = served.ask("POST", "/api/studies/theirs-0123/resume", {})
    assert status == 428, content
    assert (status, json.loads(content)["programs"]) == (428, ["touch /tmp/theirs"])

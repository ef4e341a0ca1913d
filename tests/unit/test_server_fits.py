"""Captures and logs that are sent to the server: it says what `dumbbell fit` says, and keeps none of their packets."""

from __future__ import annotations

import http.client
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import PATIENCE_S, Served, serving
from test_fit_log_files import TABLE

from dumbbell.cli import invoke

STREAM = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Temporary files of the server and its commands."""
    with pytest.MonkeyPatch.context() as patch:
        found = tmp_path_factory.mktemp("scratch")
        patch.setattr(tempfile, "tempdir", str(found))
        yield found


@pytest.fixture(scope="module")
def served(scratch: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("workspace")) as found:
        yield found


def sent(served: Served, content: bytes, query: str = "name=slow.csv", **headers: str) -> tuple[int, dict[str, Any]]:
    status, _, answer = served.ask("POST", f"/api/fit?{query}", content, {**served.headers, **STREAM, **headers})
    return status, json.loads(answer)


@pytest.fixture(scope="module")
def fitted(served: Served) -> dict[str, Any]:
    status, found = sent(served, TABLE.encode())
    assert status == 200, found
    return found


def test_the_answer_is_that_of_the_command(
    served: Served, scratch: Path, fitted: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "slow.csv"
    file.write_text(TABLE)
    assert invoke(["fit", str(file), "--json", "-o", str(tmp_path / "path.toml")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {key: fitted[key] for key in ("title", "answer", "table", "measured")} == {
        key: told[key] for key in ("title", "answer", "table", "measured")
    }
    assert fitted["scenario"] == (tmp_path / "path.toml").read_text()
    assert fitted["command"] == "dumbbell fit slow.csv"
    assert served.json("GET", f"/api/fit/{fitted['id']}") == fitted
    assert list(scratch.iterdir()) == [], "the file is gone"


def test_the_fitted_path_is_planned_and_saved_with_other_values(served: Served, fitted: dict[str, Any]) -> None:
    ask = f"/api/fit/{fitted['id']}"
    assert {"topology.bottleneck.rate", "topology.rtt"} <= {knob["path"] for knob in fitted["knobs"]}
    rate = "topology.bottleneck.rate=3 Mbit/s"
    plan = json.loads(served.json("POST", f"{ask}/plan", {"overrides": [rate]})["plan"])
    assert 3_000_000 in [link.get("rate_bps") for link in plan["links"]]
    served.json("POST", f"{ask}/save", {"to": "path.toml", "overrides": [rate]})
    saved = (served.root / "path.toml").read_text()
    assert 'rate = "3 Mbit/s"' in saved
    assert saved.startswith("# "), "comments stay"
    assert served.ask("POST", f"{ask}/save", {"to": "path.toml"})[0] == 400, "nothing is overwritten"
    assert served.ask("POST", f"{ask}/save", {"to": "../path.toml"})[0] == 400
    assert served.ask("POST", f"{ask}/plan", {"overrides": ["topology.rtt=never"]})[0] in (400, 409)


def test_the_transfer_is_repeated_with_changes(served: Served, scratch: Path, fitted: dict[str, Any]) -> None:
    ask = f"/api/fit/{fitted['id']}/what-if"
    found = served.json("POST", ask, {"cc": "reno", "changes": ["cc=bbr,cubic"]})
    assert [row[0] for row in found["table"]] == ["captured", "as captured, reno", "cc = bbr", "cc = cubic"]
    assert [one.partition(",")[0] for one in found["answer"]] == ["With cc = bbr", "With cc = cubic"]
    assert found["runs"] == 20
    status, _, answer = served.ask("POST", ask, {"cc": "reno", "changes": ["cc=none-such"]})
    assert status == 400, answer
    assert "none-such" in json.loads(answer)["what"]
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "query", "headers", "status", "says"),
    [
        (b"", "name=a.pcap", {}, 400, "empty"),
        (b"no capture\n" * 99, "name=..%2f-a%00b.pcap", {}, 400, "_b.pcap"),
        (TABLE.encode(), "name=a.csv&connection=7", {}, 400, "no connections"),
        (TABLE.encode(), "name=a.csv", {"Content-Type": "application/json"}, 415, "octet-stream"),
        (TABLE.encode(), "name=a.csv", {"Origin": "http://evil.example"}, 403, "another page"),
        (TABLE.encode(), "connection=1", {}, 422, "name"),
        (b"", "name=a.pcap", {"Content-Length": str(2 << 30)}, 413, "too large"),
    ],
)
def test_what_is_no_capture_is_refused_in_words(
    served: Served, scratch: Path, content: bytes, query: str, headers: dict[str, str], status: int, says: str
) -> None:
    found, answer = sent(served, content, query, **headers)
    assert (found, says in answer["what"] + answer.get("why", "")) == (status, True), answer
    assert list(scratch.iterdir()) == []


def test_a_page_that_leaves_ends_what_it_asked_for(served: Served, scratch: Path) -> None:
    """Two are read at a time; a third is refused. Each ends when nobody waits for it."""
    waiting = [http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_S) for _ in range(2)]
    for one in waiting:  # The body never ends, so the file is never whole.
        one.putrequest("POST", "/api/fit?name=slow.csv", skip_host=True)
        for key, value in {**served.headers, **STREAM, "Content-Length": str(1 << 20)}.items():
            one.putheader(key, value)
        one.endheaders(b"time_s,rate_Mbps\n")
    until = time.monotonic() + PATIENCE_S
    while len(list(scratch.iterdir())) < len(waiting):
        assert time.monotonic() < until
        time.sleep(0.02)
    status, answer = sent(served, TABLE.encode())
    assert (status, answer["what"]) == (400, "the server is busy")
    for one in waiting:
        one.close()
    while list(scratch.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert sent(served, TABLE.encode())[0] == 200

"""Bad input is refused before anything starts: exit code 2, and file, key, value, expectation and hint are named."""

from __future__ import annotations

import json

import pytest
from harness import Place
from scenarios import flow, path
from stages import thorough_after

GOOD = path(flow())
CASES = {
    "unknown key": (
        GOOD.replace("duration =", "durration ="),
        ["scenario.toml", "durration", "unknown key", "did you mean duration?"],
    ),
    "missing unit": (
        GOOD.replace('"20 Mbit/s"', '"20"'),
        ["scenario.toml:8", 'topology.bottleneck.rate = "20"', "no unit", 'hint: write "20 Mbit/s"'],
    ),
    "negative rate": (GOOD.replace('"20 Mbit/s"', '"-20 Mbit/s"'), ["scenario.toml:8", "-20 Mbit/s", "expected"]),
    "unknown host": (path(flow("h3")), ["scenario.toml", 'flows.0.from = "h3"', "h1, h2"]),
    "unknown algorithm": (path(flow(cc="nosuch")), ["scenario.toml", "flows.0.cc", "nosuch", "reno", "hint: "]),
    "one port for two": (path(flow(port=5001), flow(port=5001)), ["scenario.toml", "flows.1.port = 5001", "hint: "]),
    "no TOML": ("name = \n", ["scenario.toml:1", "not TOML", "hint: "]),
    "missing program": (path(flow(command="no-such-program")), ["'no-such-program'", "hint: install it"]),
}


@pytest.mark.parametrize("case", thorough_after(3, CASES))
def test_refused(anyone: Place, case: str) -> None:
    text, said = CASES[case]
    file = anyone.write(text)
    before = sorted(anyone.directory.iterdir())
    done = anyone.invoke("run", file, "--quiet")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert [word for word in said if word not in done.stderr] == [], done.stderr
    # No run was begun: not even its directory was made. (.view is ours.)
    assert [path for path in sorted(anyone.directory.iterdir()) if path.name != ".view"] == before


def test_several_mistakes_are_told_at_once(here: Place) -> None:
    done = here.invoke("run", here.write(path(flow("h3", cc="cubic"), flow(port=0), rtt="20")))
    assert done.returncode == 2
    assert done.stderr.count("error: ") >= 2


def test_json_says_what_is_wrong_as_data(here: Place) -> None:
    done = here.invoke("run", here.write("name = \n"), "--json")
    assert done.returncode == 2
    (problem,) = json.loads(done.stdout)["error"]["problems"]
    assert (problem["place"]["line"], "Invalid value" in problem["what"]) == (1, True)

"""`dumbbell fit` of both ends of a transfer, and profiles that hold no address and no packet."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell.captures.clocks import Clocks
from dumbbell.captures.points import FILE, interfaces
from dumbbell.cli import invoke
from dumbbell.errors import DumbbellError, InputError
from dumbbell.fitting import Fit, fit
from dumbbell.fitting.ends import _by_sender
from dumbbell.fitting.profile import text
from dumbbell.fitting.scenario import toml
from dumbbell.fitting.whatif import changes, what_if
from dumbbell.fitting.words import answer, rows
from dumbbell.records.run import Run

pytestmark = pytest.mark.xdist_group("fit")
BUFFER = 40_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    link = {"rate": "20 Mbit/s", "buffer": f"{BUFFER} B", "loss": "0.2 %"}
    scenario = {
        "name": "ends",
        "duration": "15 s",
        "topology": {"kind": "dumbbell", "pairs": 1, "rtt": "20 ms", "bottleneck": link},
        "flows": [{"from": "s1", "to": "r1", "cc": "cubic"}],
        "record": {"capture": True, "packets": True, "acks": False},
    }
    found = dumbbell.run(scenario, (), tmp_path_factory.mktemp("ends"), engine="simulate", report=False)
    assert isinstance(found, Run)
    return found


@pytest.fixture(scope="module")
def both(run: Run) -> Fit:
    return fit(run.directory, other=run.directory)


def test_losses_are_exactly_those_of_the_link(run: Run, both: Fit) -> None:
    data = run.packets.filter((pl.col("link") == "bottleneck") & (pl.col("payload_bytes") > 0))
    lost = data.filter(~pl.col("fate").cast(pl.String).is_in(["delivered", "inside"])).height
    assert lost > 20
    assert both.transfer.side == "both"
    # The last packets were on their way when the capture ended.
    inside = data.filter(pl.col("fate").cast(pl.String) == "inside").height
    assert data.height - inside <= both.transfer.sent_packets <= data.height
    assert round(both.transfer.lost_share * both.transfer.sent_packets) == lost


def test_both_ends_tell_the_path(both: Fit) -> None:
    assert both.rate.capacity.value == pytest.approx(20e6, rel=0.02)
    assert both.base_rtt.value == pytest.approx(20e6, abs=1e6)
    assert both.losses.buffer.value == pytest.approx(BUFFER, rel=0.1)
    assert both.losses.loss.low is not None
    assert both.losses.loss.high is not None
    assert both.losses.loss.low <= 0.002 <= both.losses.loss.high
    assert both.late.value == 0


def test_captures_are_given_in_any_order(run: Run, both: Fit, tmp_path: Path) -> None:
    sides = {}
    for side in ("sender", "receiver"):
        found = dumbbell.pcap(run.directory / FILE, output=tmp_path / side, interfaces=list(interfaces(run.plan, side)))
        sides[side] = found.directory
    swapped = fit(sides["receiver"], other=sides["sender"])
    assert rows(swapped) == rows(both)
    with pytest.raises(InputError, match="not of both ends"):
        fit(sides["sender"], other=sides["sender"])
    with pytest.raises(InputError, match="--at does not fit"):
        fit(sides["sender"], at="sender", other=sides["receiver"])


@pytest.mark.parametrize("sender_is_first", [True, False])
def test_drift_between_clocks_is_removed(sender_is_first: bool) -> None:
    sent = np.arange(0.0, 10e9, 1e8)
    sign = 1 if sender_is_first else -1
    clocks = Clocks(3_000_000, 5_000_000, 50.0)
    arrived = sent + 2e6 + sign * (4e6 + 50e-6 * sent)
    delays = _by_sender(arrived, clocks, sender_is_first) - sent
    assert np.ptp(delays) < 100_000
    assert np.ptp(arrived - sent) > 400_000


def test_a_profile_says_the_same_without_names(run: Run, tmp_path: Path) -> None:
    found = fit(run.directory)
    file = tmp_path / "small.json"
    assert invoke(["fit", str(run.directory), "--anonymize", "-o", str(file)]) == 0
    again = fit(file)
    assert rows(again) == rows(found)
    assert answer(again) == answer(found)
    assert [line for line in toml(again).splitlines() if "name" not in line] == [
        line for line in toml(found).splitlines() if "name" not in line
    ]
    content = file.read_text()
    assert len(content) < 20_000
    assert "capture.pcapng" not in content
    seen = dumbbell.pcap(run.directory / FILE, output=tmp_path / "seen").connections
    for name in ("client", "server"):
        assert str(seen[name][0]).count(".") == 3
        assert str(seen[name][0]) not in content


@pytest.mark.parametrize(
    "wrong",
    ['{"format": "other"}', "{", '{"format": "dumbbell-fit-1", "fit": {"name": 3}}'],
)
def test_what_is_no_profile_is_refused(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(wrong)
    with pytest.raises(DumbbellError, match="cannot be read"):
        fit(file)


def test_a_profile_with_a_figure_that_is_none_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "infinite.json"
    content = json.loads(text(fit(run.directory)))
    content["fit"]["base_rtt"]["value"] = float("inf")
    file.write_text(json.dumps(content))
    with pytest.raises(DumbbellError, match="not finite"):
        fit(file)
    with pytest.raises(InputError, match="is a profile"):
        fit(file, at="sender")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"policer": {"rate": 1e6}}, "without its bucket"),
        ({"policer": {"burst": 1e4}}, "without its rate"),
        ({"policer": {"rate": 0.0, "burst": 1e4}}, "not above 0"),
        ({"rate": {"capacity": 0.0, "available": 0.0}}, "not above 0"),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(
    run: Run, tmp_path: Path, wrong: dict[str, dict[str, float]], why: str
) -> None:
    content = json.loads(text(fit(run.directory)))
    for part, values in wrong.items():
        for name, value in values.items():
            content["fit"][part][name] |= {"value": value}
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(content))
    with pytest.raises(DumbbellError, match=why):
        answer(fit(file))


@pytest.mark.parametrize(
    "cc", ["theirs.bpf.c", "/home/me/theirs.bpf.c", "theirs.c", "", "cubic ", "\\", '"""', "x" * 99]
)
def test_the_algorithm_of_a_profile_is_no_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cc: str
) -> None:
    """A transfer that is repeated would compile it, and a scenario that is written would name it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.bpf.c").write_text("#error it was compiled")
    content = json.loads(text(fit(run.directory)))
    content["fit"]["transfer"]["cc"] = cc
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps(content))
    with pytest.raises(DumbbellError, match="is no congestion control that a log tells"):
        fit(file)
    content["fit"]["transfer"]["cc"] = "bbr3"
    file.write_text(json.dumps(content))
    assert tomllib.loads(toml(fit(file)))["flows"][0]["cc"] == "bbr3"


@pytest.mark.parametrize("where", ["capacity", "available"])
def test_texts_of_a_profile_bring_no_keys_into_a_scenario(run: Run, tmp_path: Path, where: str) -> None:
    hostile = 'so\n[[programs]]\nnode = "s1"\ncommand = "touch taken"\n#'
    content = json.loads(text(fit(run.directory)))
    for one in (content["fit"]["rate"][where], content["fit"]["base_rtt"], content["fit"]["losses"]["loss"]):
        one |= {"evidence": hostile, "why_not": hostile}
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps(content))
    with pytest.raises(DumbbellError, match="a text of several lines"):
        fit(file)
    found = fit(run.directory)
    rate = replace(found.rate, capacity=replace(found.rate.capacity, evidence=hostile))
    made = tomllib.loads(toml(replace(found, rate=rate)))
    assert "programs" not in made
    assert made == tomllib.loads(toml(found))


def test_a_profile_of_more_packets_than_can_be_simulated_is_refused(run: Run, tmp_path: Path) -> None:
    """Packets of others on the path are simulated, too: at this rate for months."""
    file = tmp_path / "endless.json"
    content = json.loads(text(fit(run.directory)))
    content["fit"]["rate"]["capacity"] |= {"value": 1e18, "low": 1e18, "high": 1e18}
    content["fit"]["transfer"]["acknowledged_bytes"] = 10**18
    file.write_text(json.dumps(content))
    with pytest.raises(InputError, match="too large"):
        what_if(fit(file), changes(["cc=reno"]), draws=2)

"""`dumbbell fit`: paths that are known, fitted to what a simulated sender or receiver saw of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from made_capture import ACK, HEAD, handshake, packet

import dumbbell
from dumbbell.captures.points import FILE, interfaces
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.fitting import Estimate, Fit, fit
from dumbbell.fitting.scenario import toml
from dumbbell.fitting.trace import _one_way, paint
from dumbbell.fitting.whatif import CAPTURED, changes, what_if
from dumbbell.fitting.words import answer

pytestmark = pytest.mark.xdist_group("fit")
PATHS: dict[str, dict[str, Any]] = {
    "bufferbloat": {"rate": "10 Mbit/s", "buffer": "200 kB"},
    "policer": {"rate": "20 Mbit/s", "buffer": "100 kB", "policer": {"rate": "6 Mbit/s", "burst": "40 kB"}},
    "loss": {"rate": "20 Mbit/s", "buffer": "100 kB", "loss": "1 %"},
    "window": {"rate": "50 Mbit/s", "buffer": "300 kB"},
}
SIDES = ("sender", "receiver")


def scenario(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": name,
        "duration": "12 s",
        "topology": {"kind": "dumbbell", "pairs": 1, "rtt": "40 ms", "bottleneck": PATHS[name]},
        "flows": [{"from": "s1", "to": "r1", "cc": "cubic"}],
        "record": {"capture": True, "packets": False, "acks": False},
    }
    if name == "window":
        found["hosts"] = {"r1": {"sysctl": {"net.ipv4.tcp_rmem": "4096 131072 131072"}}}
    return found


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, dict[str, list[str]]]]:
    folder = tmp_path_factory.mktemp("fit")
    found = {}
    for name in PATHS:
        run = dumbbell.run(scenario(name), (), folder, engine="simulate", report=False)
        found[name] = (run.directory / FILE, {side: list(interfaces(run.plan, side)) for side in SIDES})
    return found


@pytest.fixture(scope="module")
def fits(captures: dict[str, tuple[Path, dict[str, list[str]]]]) -> dict[tuple[str, str], Fit]:
    return {
        (name, side): fit(file, None, None, sides[side]) for name, (file, sides) in captures.items() for side in SIDES
    }


def is_inside(value: float, one: Estimate) -> bool:
    return one.low is not None and one.high is not None and one.low <= value <= one.high


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", PATHS)
def test_capacity_and_base_rtt_are_found(fits: dict[tuple[str, str], Fit], name: str, side: str) -> None:
    found = fits[name, side]
    truth = float(PATHS[name]["rate"].split()[0]) * 1e6
    assert found.transfer.side == side
    assert found.rate.capacity.value == pytest.approx(truth, rel=0.02)
    assert found.base_rtt.value == pytest.approx(40e6, abs=1e6)
    assert is_inside(truth, found.rate.capacity)
    assert is_inside(40e6, found.base_rtt)


@pytest.mark.parametrize("side", SIDES)
def test_a_buffer_is_found_by_the_delay_at_which_it_overflows(fits: dict[tuple[str, str], Fit], side: str) -> None:
    assert fits["bufferbloat", side].losses.buffer.value == pytest.approx(200e3, rel=0.1)
    assert not fits["bufferbloat", side].policer.is_found


@pytest.mark.parametrize("side", SIDES)
def test_a_policer_is_found_by_its_bucket(fits: dict[tuple[str, str], Fit], side: str) -> None:
    found = fits["policer", side].policer
    assert found.rate.value == pytest.approx(6e6, rel=0.02)
    assert found.burst.value == pytest.approx(40e3, rel=0.1)
    assert not fits["policer", side].losses.buffer.is_identifiable
    assert not fits["loss", side].policer.is_found


@pytest.mark.parametrize("side", SIDES)
def test_losses_apart_from_overflow_are_counted(fits: dict[tuple[str, str], Fit], side: str) -> None:
    found = fits["loss", side].losses.loss
    assert is_inside(0.01, found)
    assert found.value == pytest.approx(0.01, rel=0.3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bufferbloat", ("The bottleneck of 10 Mbit/s is full", "bloated")),
        (
            "policer",
            (
                "A policer limits this transfer",
                "A sender that is paced below that rate loses none",
            ),
        ),
        ("loss", ("Losses apart from a full queue limit this transfer",)),
        ("window", ("The receiver's window of", "Another congestion control would not help", "a window of")),
    ],
)
@pytest.mark.parametrize("side", SIDES)
def test_the_first_lines_are_the_answer(
    fits: dict[tuple[str, str], Fit], name: str, side: str, words: tuple[str, ...]
) -> None:
    text = " ".join(answer(fits[name, side]))
    for word in words:
        assert word in text


@pytest.mark.parametrize("name", PATHS)
def test_a_run_over_the_fitted_path_is_like_the_capture(
    fits: dict[tuple[str, str], Fit], name: str, tmp_path: Path
) -> None:
    file = tmp_path / "fitted.toml"
    file.write_text(toml(fits[name, "sender"]))
    run = dumbbell.run(file, (), tmp_path, engine="simulate", report=False)
    goodput = float(run.flows["goodput_bps"][0])
    assert goodput == pytest.approx(fits[name, "sender"].transfer.goodput_bps, rel=0.1)


@pytest.mark.parametrize("side", SIDES)
def test_the_measured_course_has_the_transfers_bytes_and_its_queue(fits: dict[tuple[str, str], Fit], side: str) -> None:
    found = fits["bufferbloat", side]
    course = found.measured
    assert course is not None
    steps = np.diff(course.time_s, prepend=0.0)
    assert float(np.sum(steps * course.goodput_bps)) / 8 == pytest.approx(found.transfer.acknowledged_bytes, rel=0.01)
    # A full queue of 200 kB at 10 Mbit/s is 160 ms.
    rtts = [one for one in course.rtt_ms if one is not None]
    assert max(rtts) == pytest.approx(40 + 160, abs=8)
    assert 39 < min(rtts) < 50, "the first ten packets come as a burst"
    flight = [one for one in course.in_flight_bytes if one is not None]
    if side == "receiver":
        assert flight == [], "a receiver does not see when packets are sent"
    else:
        # The queue and the product of rate and base RTT, less headers.
        assert max(flight) == pytest.approx((200_000 + 50_000) * 1448 / 1514, rel=0.03)


def test_the_command_prints_the_answer_first_and_writes_a_scenario(
    captures: dict[str, tuple[Path, dict[str, list[str]]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, sides = captures["policer"]
    only = [word for name in sides["sender"] for word in ("--interface", name)]
    assert invoke(["fit", str(file), *only, "-o", str(tmp_path / "path.toml")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("A policer limits this transfer")
    assert "not identifiable" in printed
    assert "policer" in (tmp_path / "path.toml").read_text()
    assert invoke(["fit", str(file), *only, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["estimates"]["policer_rate"]["identifiable"] is True
    assert told["estimates"]["buffer"]["why_not"]


def test_what_shows_no_end_of_a_path_is_refused(
    captures: dict[str, tuple[Path, dict[str, list[str]]]], tmp_path: Path
) -> None:
    file, sides = captures["loss"]
    with pytest.raises(InputError, match="middle"):
        fit(file, at="middle")
    with pytest.raises(InputError, match="no connection 7"):
        fit(file, 7, None, sides["sender"])
    short = tmp_path / "short.pcapng"
    short.write_bytes(file.read_bytes()[:4000])
    with pytest.raises(InputError, match="short"):
        fit(short, None, "sender", sides["sender"])


def test_data_without_an_ack_show_no_path(tmp_path: Path) -> None:
    """A handshake has an ACK, but none of data."""
    data = [packet(200_000 + 1_000 * n, 4 + n, ACK, 1_000 + 1_000 * n, 5_000, 1_000) for n in range(100)]
    (tmp_path / "one-sided.pcap").write_bytes(HEAD + b"".join([*handshake(), *data]))
    with pytest.raises(InputError, match="has no ACKs"):
        fit(tmp_path / "one-sided.pcap", at="sender")


def test_sack_blocks_deliver_each_packet_once() -> None:
    starts = np.arange(0.0, 6.0)
    delivered = np.full(6, 100.0)
    sacks = pl.DataFrame({"time_ns": [1, 2, 3], "start": [2, 2, 0], "end": [4, 6, 3]})
    paint(delivered, starts, starts + 1, sacks)
    assert delivered.tolist() == [3, 3, 1, 1, 2, 2]


def test_one_way_delays_follow_the_senders_clock() -> None:
    sent_ms = np.arange(0.0, 200.0, 2.0) + 2.0**32 - 100  # The clock wraps.
    delay, step = _one_way((np.arange(0.0, 200.0, 2.0) + 30) * 1e6, sent_ms % 2.0**32)
    assert step == 1e6
    assert np.ptp(delay) < 1


def test_another_algorithm_is_predicted_within_a_tenth(fits: dict[tuple[str, str], Fit], tmp_path: Path) -> None:
    found = fits["loss", "sender"]
    captured, other = what_if(found, changes(["cc=bbr"]), "cubic", 3)
    assert captured.words.startswith(CAPTURED)
    size = f"{found.transfer.acknowledged_bytes} B"
    true = scenario("loss") | {"flows": [{"from": "s1", "to": "r1", "cc": "bbr", "bytes": size}], "record": {}}
    run = dumbbell.run(true, (), tmp_path, engine="simulate", report=False)
    assert other.seconds is not None
    assert np.mean(other.seconds) == pytest.approx(float(run.flows["fct_s"][0]), rel=0.1)
    assert captured.seconds is not None
    assert other.seconds[1] < captured.seconds[0]


@pytest.mark.parametrize("text", ["cc", "=bbr", "cc="])
def test_a_change_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not understood"):
        changes([text])


def test_any_key_is_changed_alone(fits: dict[tuple[str, str], Fit]) -> None:
    found = fits["bufferbloat", "sender"]
    captured, queue, loss = what_if(found, changes(["queue=codel", "topology.bottleneck.loss=1 %"]), "cubic", 2)
    assert queue.rtt_ms < captured.rtt_ms / 2
    assert loss.retransmitted > captured.retransmitted


def test_queues_are_changed_by_either_spelling() -> None:
    (one,) = changes(["queue=fq_codel"])
    assert (one.key, one.value) == ("topology.bottleneck.queue", "fq-codel")


def test_a_capture_of_several_places_is_refused(captures: dict[str, tuple[Path, dict[str, list[str]]]]) -> None:
    """Each packet is there twice: copies would pass for round trips and for losses."""
    with pytest.raises(InputError, match="several places of the path"):
        fit(captures["bufferbloat"][0])

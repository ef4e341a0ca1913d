"""`dumbbell fit` of captures with a flaw: it says what they lack, and claims no figure that is false."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from stages import thorough_after

import dumbbell
from dumbbell.captures.points import FILE, interfaces
from dumbbell.errors import InputError
from dumbbell.fitting import Fit, fit
from dumbbell.fitting.words import answer, milliseconds

pytestmark = pytest.mark.xdist_group("fit")
Packet = tuple[int, int, bytes]
"""Time in ns, length, and the bytes that were captured."""
PUBLIC: Final = Path(__file__).parents[2] / "crates" / "capture" / "tests" / "others"
RTT_MS: Final = 40
PATHS: Final[dict[str, dict[str, Any]]] = {
    "bloat": {"rate": "10 Mbit/s", "buffer": "300 kB"},
    "policer": {"rate": "20 Mbit/s", "buffer": "100 kB", "policer": {"rate": "6 Mbit/s", "burst": "40 kB"}},
    "window": {"rate": "50 Mbit/s", "buffer": "300 kB"},
}


def packets(file: Path, names: Iterable[str]) -> list[Packet]:
    """Packets of some interfaces of a pcapng that dumbbell wrote, in nanoseconds."""
    data, at, ids, found = file.read_bytes(), 0, list[str](), list[Packet]()
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 1:
            option = data[at + 16 :]
            while (code := struct.unpack_from("<H", option)[0]) != 2:
                assert code
                option = option[4 + -(-struct.unpack_from("<H", option, 2)[0] // 4) * 4 :]
            ids.append(option[4 : 4 + struct.unpack_from("<H", option, 2)[0]].decode())
        elif kind == 6:
            number, high, low, captured, whole = struct.unpack_from("<IIIII", data, at + 8)
            if ids[number] in names:
                found.append(((high << 32) + low, whole, data[at + 28 : at + 28 + captured]))
        at += length
    return sorted(found)


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Packet]]:
    """Packets of each path at the sender."""
    folder = tmp_path_factory.mktemp("flawed")
    found = {}
    for name, bottleneck in PATHS.items():
        table: dict[str, Any] = {
            "name": name,
            "duration": "12 s",
            "topology": {"kind": "dumbbell", "pairs": 1, "rtt": f"{RTT_MS} ms", "bottleneck": bottleneck},
            "flows": [{"from": "s1", "to": "r1", "cc": "cubic"}],
            "record": {"capture": True, "packets": False, "acks": False},
        }
        if name == "window":
            table["hosts"] = {"r1": {"sysctl": {"net.ipv4.tcp_rmem": "4096 131072 131072"}}}
        run = dumbbell.run(table, (), folder, engine="simulate", report=False)
        found[name] = packets(run.directory / FILE, interfaces(run.plan, "sender"))
    return found


def fitted(folder: Path, records: Iterable[Packet]) -> Fit:
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 1)]
    for time, whole, data in records:
        parts.append(struct.pack("<IIII", time // 10**9, time % 10**9, len(data), whole) + data)
    (folder / "flawed.pcap").write_bytes(b"".join(parts))
    return fit(folder / "flawed.pcap")


def behind(records: list[Packet], second: float) -> list[Packet]:
    return [one for one in records if one[0] >= second * 1e9]


def test_a_queue_that_stands_when_the_capture_begins_is_no_base_rtt(
    sent: dict[str, list[Packet]], tmp_path: Path
) -> None:
    found = fitted(tmp_path, behind(sent["bloat"], 4))
    assert found.rate.capacity.value == pytest.approx(10e6, rel=0.02)
    assert not found.base_rtt.is_identifiable
    assert found.base_rtt.high is not None
    assert found.base_rtt.high > RTT_MS * 1e6
    assert not found.losses.buffer.is_identifiable
    assert "no handshake" in found.base_rtt.why_not
    assert any(sentence.startswith("How long packets wait is not known") for sentence in answer(found))


def test_a_queue_that_drains_shows_the_base_rtt_without_a_handshake(
    sent: dict[str, list[Packet]], tmp_path: Path
) -> None:
    found = fitted(tmp_path, behind(sent["policer"], 4))
    assert found.base_rtt.value == pytest.approx(RTT_MS * 1e6, abs=1e6)
    assert found.policer.rate.value == pytest.approx(6e6, rel=0.02)


def test_a_window_of_unknown_scale_is_not_excluded(sent: dict[str, list[Packet]], tmp_path: Path) -> None:
    assert fitted(tmp_path, sent["window"]).is_window_limited
    first, second, *_ = answer(fitted(tmp_path, behind(sent["window"], 4)))
    assert "or the receiver's window limits this transfer" in first
    assert "lacks the SYNs' options" in second


def test_without_sack_blocks_a_policer_is_told_and_others_are_not(
    sent: dict[str, list[Packet]], tmp_path: Path
) -> None:
    cut: Callable[[str], list[Packet]] = lambda name: [(time, whole, data[:64]) for time, whole, data in sent[name]]  # noqa: E731
    found = fitted(tmp_path, cut("policer"))
    assert found.policer.rate.value == pytest.approx(6e6, rel=0.02)
    assert any("TCP options" in one and one.startswith("Warning: ") for one in answer(found))
    bloat = fitted(tmp_path, cut("bloat"))
    assert bloat.base_rtt.value == pytest.approx(RTT_MS * 1e6, abs=1e6)
    assert bloat.losses.buffer.value == pytest.approx(300e3, rel=0.1)
    assert not bloat.others.rate.is_identifiable


def test_a_clock_that_was_set_back_is_refused(sent: dict[str, list[Packet]], tmp_path: Path) -> None:
    for back_ns, words in ((50_000_000, r"set back by 0\.04\d+ s"), (3_000_000_000, "set back by 3 s")):
        records = [(time - back_ns * (time > 6e9) + 10**10, whole, data) for time, whole, data in sent["bloat"]]
        with pytest.raises(InputError, match=words):
            fitted(tmp_path, records)


@pytest.mark.parametrize("step_ns", [1_000_000, 10_000_000])
def test_a_coarse_clock_tells_a_rate_only_while_packets_queue(
    sent: dict[str, list[Packet]], tmp_path: Path, step_ns: int
) -> None:
    def coarse(name: str) -> Fit:
        records = sent[name]
        return fitted(tmp_path, [(time // step_ns * step_ns, whole, data) for time, whole, data in records])

    assert coarse("bloat").rate.capacity.value == pytest.approx(10e6, rel=0.02)
    window = coarse("window")
    assert not window.rate.capacity.is_identifiable
    assert "steps of" in window.rate.capacity.why_not
    low, high = window.base_rtt.low, window.base_rtt.high
    assert low is not None
    assert high is not None
    assert low <= RTT_MS * 1e6 <= high


def test_packets_that_the_capture_lacks_are_no_traffic_of_others(sent: dict[str, list[Packet]], tmp_path: Path) -> None:
    random = Random(1)
    found = fitted(tmp_path, [one for one in sent["bloat"] if random.random() > 0.05])
    assert found.rate.capacity.value == pytest.approx(10e6, rel=0.02)
    for one in (found.others.rate, found.losses.loss, found.policer.rate, found.rate.available):
        assert not one.is_identifiable
        assert "the capture lacks" in one.why_not
    assert not found.is_shared
    assert any("lacks packets" in one for one in answer(found))


def test_long_times_are_seconds() -> None:
    assert [milliseconds(ns) for ns in (90e6, 999.6e6, 3.27e9)] == ["90 ms", "1 s", "3.27 s"]


@pytest.mark.parametrize("at", thorough_after(1, [None, "sender", "receiver"]))
def test_public_captures_end_in_an_answer_or_in_a_reason(at: str | None) -> None:
    files = [file for file in sorted(PUBLIC.rglob("*")) if file.suffix in (".pcap", ".pcapng", ".cap")]
    assert len(files) > 50
    for file in files:
        try:
            sentences = answer(fit(file, at=at))
        except InputError as error:
            (problem,) = error.problems
            assert problem.what, file
            assert problem.why, file
        else:
            assert sentences[0].endswith("."), file

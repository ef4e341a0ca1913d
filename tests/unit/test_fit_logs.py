"""`dumbbell fit` of logs: paths that are known, and what `ss`, iperf3, qlog and a table would have told of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import dumbbell
from benches.fit import written
from dumbbell.fitting import Estimate, Fit, fit
from dumbbell.fitting.scenario import toml
from dumbbell.fitting.whatif import changes, what_if
from dumbbell.fitting.words import answer

pytestmark = pytest.mark.xdist_group("fit-logs")


@dataclass(frozen=True)
class Path_:
    """A path, and what is true of a transfer over it."""

    mbps: float
    rtt_ms: float
    buffer: int
    cc: str = "cubic"
    others_mbps: float = 0.0
    link: dict[str, Any] | None = None
    window: int | None = None
    flow: dict[str, Any] | None = None
    is_full: bool = True
    """True if the transfer fills its part of the bottleneck, whose queue then overflows."""


PATHS: dict[str, Path_] = {
    "short": Path_(20, 15, 60_000, "reno"),
    "middle": Path_(12, 40, 120_000),
    "bloated": Path_(8, 30, 150_000, "reno"),
    "long": Path_(10, 120, 200_000, "reno"),
    "slow": Path_(6, 50, 60_000),
    "fast": Path_(30, 20, 150_000),
    "shared": Path_(16, 30, 100_000, "reno", others_mbps=5),
    "shared-half": Path_(20, 25, 120_000, "cubic", others_mbps=10),
    "policed": Path_(20, 40, 100_000, link={"policer": {"rate": "6 Mbit/s", "burst": "40 kB"}}, is_full=False),
    "lossy": Path_(20, 40, 100_000, "reno", link={"loss": "1 %"}, is_full=False),
    "window": Path_(30, 60, 300_000, window=131_072, is_full=False),
    "application": Path_(20, 30, 100_000, flow={"on": "100 ms", "off": "900 ms"}, is_full=False),
}
FULL = [name for name, path in PATHS.items() if path.is_full]
SAMPLED = ("ss", "iperf3", "table")
FORMS = (*SAMPLED, "qlog")


@pytest.fixture(scope="module")
def fits(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Fit]:
    folder = tmp_path_factory.mktemp("logs")
    fitted = {}
    for name, path in PATHS.items():
        run = dumbbell.run(scenario(name, path), (), folder, engine="simulate", report=False)
        samples = run.samples.filter(pl.col("flow") == "f1")
        texts = {
            "ss": written.ss(samples, path.cc),
            # The window of such a receive buffer, as Linux has it.
            "iperf3": written.iperf3(samples, path.cc, (path.window or 8_000_000) // 2),
            "table": written.table(samples),
            "qlog": written.qlog(run.packets, "f1", "bottleneck", path.rtt_ms / 2, len(name) % 2 == 0),
        }
        for form, text in texts.items():
            file = folder / f"{name}.{form}"
            file.write_text(text)
            fitted[name, form] = fit(file)
    return fitted


def scenario(name: str, path: Path_) -> dict[str, Any]:
    flows: list[dict[str, Any]] = [{"id": "f1", "from": "s1", "to": "r1", "cc": path.cc, **(path.flow or {})}]
    if path.others_mbps:
        flows.append({"from": "s2", "to": "r2", "protocol": "udp", "rate": f"{path.others_mbps} Mbit/s"})
    link = {"rate": f"{path.mbps} Mbit/s", "buffer": f"{path.buffer} B", **(path.link or {})}
    table: dict[str, Any] = {
        "name": name,
        "duration": "12 s",
        "topology": {"kind": "dumbbell", "pairs": 2, "rtt": f"{path.rtt_ms} ms", "bottleneck": link},
        "flows": flows,
        "record": {"packets": True, "acks": False},
    }
    if path.window:
        table["hosts"] = {"r1": {"sysctl": {"net.ipv4.tcp_rmem": f"4096 {path.window} {path.window}"}}}
    return table


def is_inside(value: float, one: Estimate) -> bool:
    return one.low is not None and one.high is not None and one.low <= value <= one.high


@pytest.mark.parametrize("form", FORMS)
def test_the_rate_while_packets_queue_is_what_others_leave(fits: dict[tuple[str, str], Fit], form: str) -> None:
    known = 0
    for name in FULL:
        path, one = PATHS[name], fits[name, form].rate.available
        truth = (path.mbps - path.others_mbps) * 1e6
        if one.value is None:
            assert one.low is None or one.low <= 1.01 * truth, name
            continue
        known += 1
        assert one.value == pytest.approx(truth, rel=0.06 if form == "iperf3" else 0.03), name
        assert is_inside(truth, one), name
    # iperf3 counts 128 kB at a time, which is much on a slow link.
    assert known >= {"ss": 8, "qlog": 8}.get(form, 5)


@pytest.mark.parametrize("form", SAMPLED)
def test_samples_never_tell_the_capacity(fits: dict[tuple[str, str], Fit], form: str) -> None:
    """Others may send over the bottleneck: then what a transfer gets is less."""
    for name, path in PATHS.items():
        capacity = fits[name, form].rate.capacity
        assert not capacity.is_identifiable
        assert capacity.low is not None
        assert capacity.low <= path.mbps * 1e6, name


def test_qlog_tells_the_capacity_where_nobody_else_sends(fits: dict[tuple[str, str], Fit]) -> None:
    alone = [name for name in FULL if not PATHS[name].others_mbps]
    known = [name for name in alone if fits[name, "qlog"].rate.capacity.is_identifiable]
    for name in known:
        assert fits[name, "qlog"].rate.capacity.value == pytest.approx(PATHS[name].mbps * 1e6, rel=0.02)
    assert len(known) >= 5


@pytest.mark.parametrize("form", FORMS)
def test_the_base_rtt_is_told_only_where_the_queue_was_empty(fits: dict[tuple[str, str], Fit], form: str) -> None:
    known = 0
    for name, path in PATHS.items():
        one, truth = fits[name, form].base_rtt, path.rtt_ms * 1e6
        if one.value is None:
            # The time of a packet at the bottleneck is taken off, at the highest rate that was seen.
            assert one.high is not None
            assert truth <= one.high + max(0.2e6, 0.02 * truth), name
            continue
        known += 1
        assert is_inside(truth, one), name
        assert one.value == pytest.approx(truth, abs=max(1e6, 0.03 * truth)), name
    assert known >= {"ss": len(PATHS), "qlog": 6, "table": 1}.get(form, 0)


@pytest.mark.parametrize("form", FORMS)
def test_a_buffer_is_told_only_by_packets_and_above_a_known_base(fits: dict[tuple[str, str], Fit], form: str) -> None:
    known = 0
    for name, path in PATHS.items():
        one = fits[name, form].losses.buffer
        if one.value is None:
            assert one.low is None or one.low <= path.buffer, name
            continue
        assert form == "qlog"
        known += 1
        assert is_inside(path.buffer, one), name
    assert known >= (4 if form == "qlog" else 0)


def test_a_log_of_ss_tells_what_of_a_buffer_the_transfer_filled(fits: dict[tuple[str, str], Fit]) -> None:
    known = [name for name in PATHS if fits[name, "ss"].losses.overflows]
    for name in known:
        path, low = PATHS[name], fits[name, "ss"].losses.buffer.low
        assert low is not None
        assert low >= 0.75 * path.buffer * (path.mbps - path.others_mbps) / path.mbps, name
    assert set(known) <= set(FULL)
    assert len(known) >= 4


@pytest.mark.parametrize("form", SAMPLED)
def test_samples_tell_no_policer_and_no_reason_of_losses(fits: dict[tuple[str, str], Fit], form: str) -> None:
    for name in PATHS:
        one = fits[name, form]
        assert not one.policer.is_found
        assert one.losses.loss.value in (None, 0.0)
    lossy = fits["lossy", form].losses.loss
    assert form == "table" or (lossy.high is not None and lossy.high >= 0.01)
    if form == "ss":
        assert "A policer, a short buffer or random loss" in " ".join(answer(fits["lossy", form]))


def test_qlog_tells_a_policer_and_losses_by_chance(fits: dict[tuple[str, str], Fit]) -> None:
    policed = fits["policed", "qlog"].policer
    assert policed.rate.value == pytest.approx(6e6, rel=0.02)
    assert policed.burst.value == pytest.approx(40e3, rel=0.1)
    assert [name for name in PATHS if fits[name, "qlog"].policer.is_found] == ["policed"]
    assert is_inside(0.01, fits["lossy", "qlog"].losses.loss)


@pytest.mark.parametrize("form", ["ss", "iperf3"])
def test_the_receivers_window_is_the_answer(fits: dict[tuple[str, str], Fit], form: str) -> None:
    assert answer(fits["window", form])[0].startswith("The receiver's window")
    others = [name for name in PATHS if fits[name, form].is_window_limited]
    assert others == ["window"]


def test_an_application_without_data_is_the_answer(fits: dict[tuple[str, str], Fit]) -> None:
    (first, second) = answer(fits["application", "ss"])
    assert first.startswith("The sender's application limits this transfer: it had nothing more to send for")
    assert second == "Another congestion control would not help."
    assert [name for name in PATHS if fits[name, "ss"].is_application_limited] == ["application"]


@pytest.mark.parametrize("form", SAMPLED)
def test_a_full_bottleneck_is_the_answer(fits: dict[tuple[str, str], Fit], form: str) -> None:
    text = answer(fits["middle", form])[0]
    assert text.startswith("The bottleneck is full: it limits this transfer, and gives it 1")


@pytest.mark.parametrize("form", FORMS)
def test_a_run_over_the_fitted_path_is_like_the_log(
    fits: dict[tuple[str, str], Fit], form: str, tmp_path: Path
) -> None:
    fitted = fits["bloated", form]
    file = tmp_path / "fitted.toml"
    file.write_text(toml(fitted, "reno"))
    run = dumbbell.run(file, (), tmp_path, engine="simulate", report=False)
    assert float(run.flows["goodput_bps"][0]) == pytest.approx(fitted.transfer.goodput_bps, rel=0.1)


def test_the_algorithm_that_a_log_names_is_repeated(fits: dict[tuple[str, str], Fit]) -> None:
    assert 'cc = "reno"' in toml(fits["bloated", "ss"])
    assert 'cc = "reno"' in toml(fits["bloated", "iperf3"])
    captured, _ = what_if(fits["bloated", "ss"], changes(["queue=codel"]), draws=2)
    assert captured.words.endswith("reno")
    assert captured.limit == "capacity"
    assert captured.goodput_bps[1] == pytest.approx(fits["bloated", "ss"].transfer.goodput_bps, rel=0.1)


@pytest.mark.parametrize("seed", range(8))
def test_a_mahimahi_trace_is_a_link(seed: int, tmp_path: Path) -> None:
    random = Random(f"mahimahi/{seed}")
    levels = [random.uniform(2, 40) for _ in range(20)] if seed else [12.0] * 20
    lines, owed = [], 0.0
    for ms in range(1, 10_001):
        owed += levels[(ms - 1) // 500] * 1e3 / 8 / 1514
        lines += [str(ms)] * int(owed)
        owed -= int(owed)
    file = tmp_path / "up.trace"
    file.write_text("\n".join(lines) + "\n10000\n")
    fitted = fit(file)
    assert fitted.transfer.is_link
    assert fitted.rate.varies == bool(seed)
    assert fitted.rate.capacity.value == pytest.approx(sum(levels) / 20 * 1e6, rel=0.002)
    for time, bps in fitted.rate.series:
        first, last = levels[int(time / 0.5)], levels[min(19, int((time + 0.199) / 0.5))]
        assert min(first, last) * 0.9 - 0.13 <= bps / 1e6 <= max(first, last) * 1.1 + 0.13
    assert answer(fitted)[0].startswith("This link carries")
    made = tmp_path / "link.toml"
    made.write_text(toml(fitted))
    run = dumbbell.run(made, {"duration": "5 s"}, tmp_path, engine="simulate", report=False)
    assert float(run.flows["goodput_bps"][0]) > 1e6


def test_a_profile_of_a_log_gives_the_same_answer(fits: dict[tuple[str, str], Fit], tmp_path: Path) -> None:
    from dumbbell.fitting.profile import text

    for form in FORMS:
        fitted = fits["middle", form]
        file = tmp_path / f"{form}.json"
        file.write_text(text(fitted))
        again = fit(file)
        assert answer(again) == answer(fitted)
        assert json.dumps(again.as_json()["estimates"]) == json.dumps(fitted.as_json()["estimates"])
        assert toml(again).splitlines()[3:] == toml(fitted).splitlines()[3:]

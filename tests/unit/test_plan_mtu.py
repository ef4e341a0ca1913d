"""The MTU of a network in its plan: what full packets carry follows from it, and 1500 bytes change nothing."""

from pathlib import Path
from typing import Any

import pytest
from planning import link, planned
from refused import BASE, refused

import dumbbell as tool
from dumbbell.errors import ScenarioError
from dumbbell.execute.cost import beside, cores
from dumbbell.plan.expand import expand
from dumbbell.plan.identity import run_id
from dumbbell.plan.view import tables
from dumbbell.plan.wire import document, parsed
from dumbbell.scenario.file.loading import load
from dumbbell.statistics.metrics import values

SMALL = {
    "name": "x",
    "duration": "1 s",
    "topology": {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "10 Mbit/s"}},
}
UDP = {"from": "s1", "to": "r1", "protocol": "udp", "rate": "1 Mbit/s"}


def at(mtu: int, bottleneck: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The plan of a dumbbell with this MTU, as it lies in plan.json."""
    topology = {"kind": "dumbbell", "rtt": "30 ms", "mtu": mtu, "bottleneck": bottleneck}
    flows = [{"from": "s1", "to": "r1"}, UDP]
    return document(expand(load({"name": "x", "duration": "10 s", "topology": topology, "flows": flows, **more})))


def test_ethernets_mtu_leaves_the_plan_as_it_was() -> None:
    plain, given = (planned({"rate": "10 Mbit/s"}, **{}), parsed(at(1500, {"rate": "10 Mbit/s"})))
    assert "mtu" not in document(plain)
    assert plain.mtu == given.mtu == 1500
    assert document(parsed({**document(plain), "mtu": 1500})) == document(plain)
    big = parsed({**document(plain), "mtu": 9000})
    assert document(big) == {**document(plain), "mtu": 9000}
    assert run_id(big, "simulate", "1") != run_id(plain, "simulate", "1")


@pytest.mark.parametrize(("mtu", "frame"), [(576, 590), (1500, 1514), (9000, 9014)])
def test_buffers_and_thresholds_count_full_frames(mtu: int, frame: int) -> None:
    def forward(**keys: Any) -> dict[str, Any]:
        return link(at(mtu, {"rate": "100 Mbit/s", **keys}), "bottleneck")

    assert forward(buffer="0.001 bdp")["buffer"] == {"bytes": frame}
    assert forward(buffer="1 bdp")["buffer"] == {"bytes": 375_000}
    assert forward(buffer="7 packets")["buffer"] == {"packets": 7}
    assert forward(buffer="20 kB")["buffer"] == {"bytes": 20_000}
    assert forward(buffer="0.001 bdp", overhead="24 B")["buffer"] == {"bytes": frame + 24}
    assert forward(queue={"kind": "red", "max_th": "6 packets"})["queue"]["max_th_bytes"] == 6 * frame
    assert forward(queue="red")["queue"]["average_packet_bytes"] == frame
    assert forward(queue="fq-codel", overhead="24 B")["queue"]["quantum_bytes"] == frame
    assert forward(queue="fq")["queue"]["quantum_bytes"] == frame
    # As in Linux, whatever the MTU is.
    assert forward(queue="cake")["queue"]["quantum_bytes"] == 1514


def test_an_opportunity_carries_a_full_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cell.trace").write_text("1\n2\n")
    found = link(at(9000, {"rate": {"trace": "cell.trace"}, "buffer": "9 packets"}), "bottleneck")
    assert found["variation"]["bytes"] == 9014
    assert found["rate_bps"] == 9014 * 8 * 1000


@pytest.mark.parametrize(("mtu", "payload"), [(576, 548), (9000, 8972)])
def test_datagrams_fill_packets(mtu: int, payload: int) -> None:
    assert at(mtu, {"rate": "10 Mbit/s"})["flows"][1]["workload"]["payload_bytes"] == payload


def test_a_buffer_in_packets_asks_for_the_memory_of_full_frames() -> None:
    def memory(mtu: int) -> int:
        plan = at(mtu, {"rate": "100 Mbit/s", "buffer": "1000 packets"})
        return int(plan["nodes"][0]["sysctl"]["net.ipv4.tcp_rmem"].split()[1])

    # 8 x (the BDP, 375 kB, and both buffers), rounded up to a power of two.
    assert memory(1500) == 1 << 25 > 8 * (375_000 + 2 * 1_514_000)
    assert memory(9000) == 1 << 28 > 8 * (375_000 + 2 * 9_014_000)


def test_a_run_of_larger_packets_has_fewer_and_needs_less() -> None:
    plans = [parsed(at(mtu, {"rate": "300 Mbit/s"})) for mtu in (1500, 9000)]
    small, large = (cores(plan) - beside(plan.duration_ns / 1e9) for plan in plans)
    assert large / small == pytest.approx((1514 / 9014) ** 0.85)


@pytest.mark.parametrize(("mtu", "rate", "path"), [(576, 150, "wire"), (576, 160, "gso"), (9000, 2300, "wire")])
def test_packets_cross_in_bursts_above_a_rate_of_packets(mtu: int, rate: int, path: str) -> None:
    assert at(mtu, {"rate": f"{rate} Mbit/s"})["emulate"]["path"] == path


def test_the_plan_shows_it() -> None:
    plan = parsed(at(9000, {"rate": "100 Mbit/s", "buffer": "20 packets"}))
    run, links = tables(plan, 30_000_000)[:2]
    assert dict(run.rows)["mtu"] == "9000 B"
    assert dict(zip(links.columns, links.rows[0], strict=True))["buffer"].startswith("20 packets (180280 B, 14.42 ms")
    assert dict(tables(planned({"rate": "1 Mbit/s"}), 1)[0].rows)["mtu"] == "1500 B"


@pytest.mark.parametrize("mtu", [575, 9001])
def test_impossible_ones_are_refused(mtu: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(BASE.replace('rtt = "30 ms"', f'rtt = "30 ms"\nmtu = {mtu}')) == (
        f"my.toml:7: topology.mtu = {mtu}: out of range\n"
        "  expected 576 to 9000 bytes\n"
        "hint: write mtu = 9000 for jumbo frames, or leave it out for Ethernet's 1500"
    )


def test_it_is_a_whole_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = refused(BASE.replace('rtt = "30 ms"', 'rtt = "30 ms"\nmtu = "9 kB"'))
    assert text == 'my.toml:7: topology.mtu = "9 kB": not an integer\n  expected a whole number, without quotes'


@pytest.mark.parametrize(("mtu", "most"), [(1500, 1472), (576, 548)])
def test_pings_that_would_be_fragmented_are_refused(
    mtu: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = BASE.replace('rtt = "30 ms"', f'rtt = "30 ms"\nmtu = {mtu}')
    text += f'protocol = "ping"\npayload = "{most + 1} B"\n'
    assert refused(text) == (
        f'my.toml:{len(text.splitlines())}: flows.0.payload = "{most + 1} B": too large\n'
        f"  expected at most {most} B, or it would be fragmented: packets have at most {mtu} B\n"
        f'hint: write payload = "{most} B"'
    )


def test_datagrams_in_fragments_have_at_most_what_an_ip_packet_carries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = BASE + 'protocol = "udp"\nrate = "1 Mbit/s"\npayload = "65508 B"\n'
    assert refused(text) == (
        f'my.toml:{len(text.splitlines())}: flows.0.payload = "65508 B": too large\n'
        "  expected at most 65507 B\n"
        'hint: write payload = "65507 B"'
    )
    loaded = load(
        {**SMALL, "flows": [{"from": "h1", "to": "h2", "protocol": "udp", "rate": "1 Mbit/s", "payload": "65507 B"}]}
    )
    assert document(expand(loaded))["flows"][0]["workload"]["payload_bytes"] == 65_507


def test_routers_would_cut_fragments_again_where_links_have_mtus_of_their_own() -> None:
    flow = {"from": "h1", "to": "h2", "protocol": "udp", "rate": "1 Mbit/s", "payload": "1473 B"}
    links = [{"between": ["h1", "r1"]}, {"between": ["r1", "h2"], "mtu": 1400}]
    nodes = {"h1": {}, "h2": {}, "r1": {"kind": "router"}}
    topology = {"kind": "graph", "nodes": nodes, "links": links}
    scenario = {"name": "x", "duration": "1 s", "topology": topology, "flows": [flow]}
    with pytest.raises(ScenarioError, match=r"at most 1372 B, or it would be fragmented.* have MTUs of their own"):
        load(scenario)
    del links[1]["mtu"]
    load(scenario)


def test_a_study_varies_it(tmp_path: Path) -> None:
    scenario = {
        "name": "jumbo",
        "duration": "4 s",
        "topology": {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "50 Mbit/s"}},
        "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
    }
    vary = {"topology.mtu": [576, 1500, 9000]}
    study = tool.run(scenario, engine="simulate", vary=vary, directory=tmp_path, report=False)
    flows = study.flows.sort("topology.mtu")
    assert flows["frame_bytes"].to_list() == [590, 1514, 9014]
    # Goodput is the payload's share of the frames, and what slow start's losses leave.
    shares = [goodput / 50e6 for goodput in flows["goodput_bps"]]
    assert shares == pytest.approx([524 / 590, 1448 / 1514, 8948 / 9014], rel=0.04)
    repeated = values(study, "retransmitted_share", "flow").sort("run")["value"]
    for row, found in zip(study.flows.sort("run").iter_rows(named=True), repeated, strict=True):
        again = row["retransmitted_segments"]
        assert again > 0
        assert found == pytest.approx(again / (row["sent_bytes"] / (row["frame_bytes"] - 66) + again))

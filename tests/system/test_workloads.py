"""Each kind of traffic and of link, over real sockets; where the clock decides, in virtual time."""

from __future__ import annotations

import json
from importlib.resources import files

import polars as pl
import pytest
from harness import Place
from scenarios import checks, flow, link, path

import dumbbell
from dumbbell.engines.names import EMULATE, VIRTUAL

UDP_FRAME = 1472 + 42
TCP_SHARE = 1448 / 1514
"""The share of a link's rate that full segments with timestamps carry."""


def measured(run: dumbbell.Run, flow_id: str = "f1") -> dict:
    (found,) = [row for row in run.summary["flows"] if row["id"] == flow_id]
    return found


def test_a_sized_flow_delivers_its_bytes_in_no_less_than_an_rtt(anyone: Place) -> None:
    found = measured(anyone.run(path(flow(bytes="300 kB"))))
    assert found["received_bytes"] == found["sent_bytes"] == 300_000
    # The handshake takes one RTT, the data half of one, and their serialisation 8 * 300 kB / 20 Mbit/s.
    assert found["fct_s"] > 0.030 + 0.120
    assert found["fct_s"] < 1.5


def test_udp_below_the_rate_arrives_completely(anyone: Place) -> None:
    # The buffer holds all that a sender sends at once which a busy machine has held up.
    run = anyone.run(path(flow(protocol="udp", rate="5 Mbit/s", stop="1 s"), bottleneck='buffer = "1 MB"'))
    udp = measured(run)["udp"]
    # One each 8 * 1514 / 5 Mbit/s = 2.4224 ms, the first at once, the last before 1 s.
    assert udp["sent_packets"] + udp["refused_packets"] == 413
    assert udp["refused_packets"] == 0
    assert udp["received_packets"] == 413
    assert udp["lost_packets"] == udp["reordered_packets"] == udp["duplicate_packets"] == 0
    assert link(run)["delivered_packets"] == 413


@pytest.mark.parametrize("engine", [EMULATE, VIRTUAL])
def test_udp_above_the_rate_loses_the_excess_at_the_bottleneck(here: Place, engine: str) -> None:
    stream = flow(protocol="udp", rate="30 Mbit/s", stop="1 s")
    run = here.run(path(stream, bottleneck='buffer = "20 packets"'), "--engine", engine)
    udp, bottleneck = measured(run)["udp"], link(run)
    assert udp["socket_drops"] == udp["refused_packets"] == 0
    # Each drop is missing at the receiver, and nothing else is: the queue empties well before the run's end.
    assert udp["sent_packets"] - udp["received_packets"] == bottleneck["drops"]
    if engine == VIRTUAL:
        # 1 s at 20 Mbit/s, the queue and the packet in service get through. A sender that lags leaves the link idle.
        through = 20e6 / 8 / UDP_FRAME + 21
        assert udp["received_packets"] == pytest.approx(through, rel=0.05)


def test_random_loss_takes_its_share_and_the_same_packets_each_time(here: Place) -> None:
    scenario = path(flow(protocol="udp", rate="10 Mbit/s", stop="1 s"), bottleneck='loss = "5 %", buffer = "1 MB"')
    fates = []
    for seed in (1, 1, 2):
        run = here.run(scenario, "--set", f"seed={seed}")
        packets = run.packets.filter(pl.col("link") == "bottleneck").sort("packet")
        lost = (packets["fate"] == "lost-before").to_list()
        assert measured(run)["udp"]["lost_packets"] in (sum(lost), sum(lost) - lost[-1])
        fates.append(lost)
    assert len(fates[0]) == 826
    # Binomial(826, 0.05): mean 41.3, standard deviation 6.3; within four standard deviations.
    assert all(16 <= sum(lost) <= 66 for lost in fates)
    assert fates[0] == fates[1]
    assert fates[0] != fates[2]


def test_loss_after_the_queue_takes_its_share_of_the_rate(here: Place) -> None:
    after = 'loss = { rate = "20 %", position = "after-queue" }'
    run = here.run(path(flow(protocol="udp", rate="5 Mbit/s", stop="1 s"), bottleneck=after))
    packets = run.packets.filter(pl.col("link") == "bottleneck")
    lost = packets.filter(pl.col("fate") == "lost-after")
    assert link(run)["losses"] == len(lost) > 0
    assert lost["departure_ns"].null_count() == 0


@pytest.mark.parametrize("ecn", [True, False])
def test_ecn_is_negotiated_if_asked_for(here: Place, ecn: bool) -> None:
    # TCP_INFO's option bits are not recorded; `ss`, run in the sender's namespace, names the option.
    look = flow(command="ss --tcp --info --options --no-header dst {server}", start="500 ms", id="look")
    run = here.run(path(flow(ecn=ecn), look))
    said = (run.directory / "logs" / "look.stdout").read_text()
    assert " ts sack " in said
    assert (" ecn " in said) == ecn


@pytest.mark.real_time
def test_a_program_is_started_sampled_and_logged(anyone: Place) -> None:
    iperf3 = flow(
        command="iperf3 -c {server} -p {port} -t 1 -C reno",
        server_command="iperf3 -s -1 -p {port}",
        start="100 ms",
    )
    run = anyone.run(path(iperf3, duration="2500 ms"))
    logs = run.directory / "logs"
    assert "receiver" in (logs / "f1.stdout").read_text()
    assert "Server listening on 5001" in (logs / "f1.server.stdout").read_text()
    assert measured(run)["cc"] == "reno"
    assert measured(run)["error"] is None
    assert checks(run)["commands"]["verdict"] == "valid"
    samples = run.samples.filter(pl.col("cwnd_packets").is_not_null())
    assert samples["time_ns"].min() >= 100_000_000
    # A data connection of 1 s, sampled each 10 ms; half of it is enough on a loaded machine.
    assert len(samples.filter(pl.col("bytes_acked") > 100_000)) > 50
    assert measured(run)["received_bytes"] > 0.5 * 20e6 / 8 * TCP_SHARE


def test_the_bundled_iperf3_scenario_is_no_failure_if_it_is_cut_short(here: Place) -> None:
    # 1.5 s for an iperf3 of 10 s. It answers SIGTERM with exit code 1; a shell that waits for it dies of the signal.
    bundled = (files("dumbbell.scenario") / "bundled" / "iperf3.toml").read_text(encoding="utf-8")
    run = here.run(bundled, "--set", "duration=2 s")
    (ran,) = json.loads((run.directory / "traffic.json").read_text())["flows"]
    assert ran["command"]["ended_by_us"]
    assert ran["command"]["server_ended_by_us"]
    assert ran["command"]["exit_code"] in (1, -15)
    assert ran["command"]["server_exit_code"] in (1, -15)
    assert ran["completed"]
    for check in ("commands", "flow-errors"):
        assert checks(run)[check]["verdict"] == "valid", checks(run)[check]
    assert measured(run)["cc"] == "bbr"
    assert measured(run)["received_bytes"] > 0


def test_flows_start_and_stop_when_they_should(here: Place) -> None:
    flows = flow(start="300 ms", stop="900 ms"), flow(), flow(protocol="udp", rate="1 Mbit/s")
    run = here.run(path(*flows), "--engine", VIRTUAL)
    assert [measured(run, f"f{i}")["start_s"] for i in (1, 2, 3)] == pytest.approx([0.3, 0, 0], abs=0.05)
    data = run.packets.filter((pl.col("flow") == "f1") & (pl.col("payload_bytes") > 0))
    assert data["arrival_ns"].min() >= 300_000_000
    assert data["arrival_ns"].max() < 1_000_000_000
    # The three share a pair of hosts, and all get through.
    assert all(measured(run, f"f{i}")["received_bytes"] > 50_000 for i in (1, 2, 3))


def test_each_direction_has_its_own_rate_and_delay(here: Place) -> None:
    flows = [flow(a, b, protocol="udp", rate="25 Mbit/s", stop="1 s") for a, b in (("h1", "h2"), ("h2", "h1"))]
    asymmetric = 'buffer = "10 packets", delay = "15 ms", reverse = { rate = "5 Mbit/s", overhead = "24 B" }'
    run = here.run(path(*flows, bottleneck=asymmetric), "--engine", VIRTUAL)
    there, back = link(run), link(run, "bottleneck-reverse")
    assert (there["rate_bps"], back["rate_bps"]) == (20_000_000, 5_000_000)
    assert (there["delay_ms"], back["delay_ms"]) == (15, 5)
    for name, found, gap_ns in (
        ("bottleneck", there, 8 * 1514 * 50),
        ("bottleneck-reverse", back, 8 * (1514 + 24) * 200),
    ):
        passed = run.packets.filter((pl.col("link") == name) & (pl.col("fate") == "delivered"))
        assert (passed["delivery_ns"] - passed["departure_ns"] == found["delay_ms"] * 1_000_000).all()
        # Behind another packet each takes its transmission time, exactly. Most are: the flow is faster than the link.
        gaps_ns = passed["departure_ns"].sort().diff().drop_nulls()
        assert gaps_ns.min() == gaps_ns.median() == gap_ns
        # 1 s at the rate, 10 packets that wait and one in service.
        assert 0.99 < found["delivered_packets"] / (1e9 / gap_ns + 11) <= 1.001


def test_a_buffer_of_two_packets(here: Place) -> None:
    run = here.run(path(flow(), bottleneck='buffer = "2 packets"'))
    packets = run.packets.filter(pl.col("link") == "bottleneck")
    assert packets["queue_packets"].max() == 2
    assert (packets.filter(pl.col("fate") == "dropped-tail")["queue_packets"] == 2).all()
    assert link(run)["drops"] > 0
    # At most two packets wait behind one in service: 3 * 605.6 us.
    assert link(run)["queue_ms"]["max"] <= 3 * 8 * 1514 / 20e6 * 1e3


def test_no_limit_on_the_rate(here: Place) -> None:
    run = here.run(path(flow(bytes="2 MB"), rate="unlimited", bottleneck='buffer = "unlimited"', duration="3 s"))
    packets = run.packets.filter(pl.col("link") == "bottleneck")
    assert (packets["departure_ns"] == packets["arrival_ns"]).all()
    assert link(run)["rate_bps"] is None
    assert link(run)["utilisation"] is None
    assert measured(run)["received_bytes"] == 2_000_000


def test_overhead_counts_in_rate_and_buffer(here: Place) -> None:
    stream = flow(protocol="udp", rate="19.9 Mbit/s", stop="1 s")
    run = here.run(path(stream, bottleneck='overhead = "24 B"'), "--engine", VIRTUAL)
    # 1514 / 1538 of the rate is left for frames: at 19.9 of 20 Mbit/s a queue builds up.
    packets = run.packets.filter(pl.col("link") == "bottleneck").sort("departure_ns")
    # The last 100 packets wait in the queue: their departures are the serialisation of 1538 bytes apart.
    gaps = packets["departure_ns"].diff().tail(100)
    assert gaps.min() >= 615_200 - 1
    assert gaps.max() <= 615_200 + 1


@pytest.mark.real_time
@pytest.mark.parametrize("echo", ["icmp", "udp"])
def test_pings_take_the_rtt_and_are_lost_where_packets_are(anyone: Place, echo: str) -> None:
    ping = flow(protocol="ping", interval="20 ms", echo=echo, stop="1 s")
    run = anyone.run(path(ping, bottleneck='buffer = "1 bdp", loss = { model = "periodic", every = 10 }'))
    told = measured(run)["ping"]
    # Every tenth is lost; the last lost one may still be under way when the run ends half a second later.
    assert (told["sent"], told["lost"]) == (50, 4)
    assert run.pings is not None
    rtts_ms = run.pings["rtt_ns"].drop_nulls() / 1e6
    # 20 ms and two transmissions of 98 bytes at 20 Mbit/s. A busy machine may add any time, but not to most samples.
    assert rtts_ms.min() >= 20 + 2 * 98 * 8 / 20e3  # type: ignore[operator]
    assert rtts_ms.median() < 30  # type: ignore[operator]
    assert link(run)["losses"] == 5

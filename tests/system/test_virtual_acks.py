"""Every ACK on record in virtual time: the table against the samples of the same run, and each algorithm's state."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from scenarios import checks, flow, path
from stages import thorough_after

import dumbbell
from dumbbell.counts import count
from dumbbell.engines.names import VIRTUAL
from dumbbell.engines.virtual.engine import VirtualEngine
from dumbbell.errors import RunFailed

IN_A_PROCESS = VirtualEngine(links=None)
WRITE_AFTER = ("bbr2", "bbr3", "bbr3-draft")
"""Algorithms whose rows show what an ACK has led to. Those of others show what was before it."""
STATES = {
    "reno": "",
    "bpf_reno": "",
    "cubic": "cubic_delay_min_us",
    "bpf_cubic": "cubic_delay_min_us",
    "bbr": "bbr_state",
    "bbr2": "bbr_state",
    "bbr3": "bbr_state",
    "bbr3-draft": "bbr_state",
    "htcp": "htcp_beta",
    "vegas": "vegas_base_rtt_us",
    "westwood": "westwood_min_rtt_us",
    "dctcp": "dctcp_alpha",
    "bpf_dctcp": "dctcp_alpha",
}
"""A column of each algorithm's state: known from the first round trip on."""
PUBLISHING = """
#include <dumbbell/congestion_control.h>
#include <dumbbell/window.h>

PUBLISHES(DB_STATE_OWN)

const volatile __u32 told = 42; /* what it tells */

static void mine_init(struct sock *sk)
{
    struct db_own_state *state = inet_csk_ca(sk);

    state->value_1 = told;
    state->value_2 = 0;
    state->value_3 = DB_NONE;
    state->value_4 = DB_NONE;
}

static void mine_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
    struct db_own_state *state = inet_csk_ca(sk);

    state->value_2++;
}

CONGESTION_CONTROL(mine, (init, mine_init), (pkts_acked, mine_pkts_acked), (cong_avoid, reno_cong_avoid),
                   (ssthresh, reno_ssthresh), (undo_cwnd, reno_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
"""
BY_ACKS = (
    "snd_mss_bytes",
    "srtt_us",
    "min_rtt_us",
    "delivered_packets",
    "delivered_ce_packets",
    "bytes_acked",
)
"""Columns that nothing but an ACK changes."""
BY_TIMERS = ("cwnd_packets", "ssthresh_packets")
"""Columns that a timer changes, too, when it finds a loss: the state of recovery is another one then."""


def run(text: str, directory: Path, engine: VirtualEngine | str = VIRTUAL) -> dumbbell.Run:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "scenario.toml").write_text(text, encoding="utf-8")
    return dumbbell.run(directory / "scenario.toml", directory=directory / "runs", engine=engine, report=False)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Run:
    """One flow of each algorithm through one bottleneck that marks."""
    flows = "".join(
        flow(f"s{i}", f"r{i}", cc=cc, **({"ecn": True} if "dctcp" in cc else {})) for i, cc in enumerate(STATES, 1)
    )
    bottleneck = '{ rate = "60 Mbit/s", buffer = "1 bdp", queue = { kind = "drop-tail", ce_threshold = "20 packets" } }'
    return run(
        f"""
name = "acks"
duration = "5 s"
record = {{ acks = true }}
topology = {{ kind = "dumbbell", pairs = {len(STATES)}, rtt = "20 ms", bottleneck = {bottleneck} }}
{flows}""",
        tmp_path_factory.mktemp("together"),
    )


def rows(of: dumbbell.Run, name: str) -> pl.DataFrame:
    """The flow's rows with words as text, and with what the row before had sent, and its state of recovery."""
    table = of.acks
    assert table is not None
    words = pl.col("flow", "moment", "ca_state", "bbr_state").cast(pl.String)
    before = {"sent_before": "snd_nxt_bytes", "ca_before": "ca_state"}
    of_flow = table.with_columns(words).filter(pl.col("flow") == name)
    return of_flow.with_columns(**{name: pl.col(column).shift(1) for name, column in before.items()})


def emptied(acks: pl.DataFrame) -> pl.Series:
    """Whether each row's ACK is one of all that was in flight."""
    return acks["snd_una_bytes"] == acks["sent_before"]


def forgets_when_empty(acks: pl.DataFrame) -> bool:
    """The kernel's Vegas forgets its base RTT when it sends with nothing in flight (CA_EVENT_TX_START): a window of two
    packets is empty behind each ACK of two. In recovery nothing is in flight once all is SACKed or lost, too.
    """
    unhurt = acks.filter(pl.col("ca_before") == "open")
    return unhurt["vegas_base_rtt_us"].is_null().equals(emptied(unhurt), check_names=False)


# Tests of one process share the run.
TOGETHER = pytest.mark.xdist_group("together")
EACH = pytest.mark.parametrize(("name", "cc"), [(f"f{i}", cc) for i, cc in enumerate(STATES, 1)])


@TOGETHER
@EACH
def test_rows_tell_what_samples_tell(together: dumbbell.Run, name: str, cc: str) -> None:
    """A sample is the state between two ACKs: that of the row of ours before it, of others' behind it."""
    acks = rows(together, name).rename({"snd_una_bytes": "bytes_acked"}).filter(pl.col("moment") != "close")
    samples = together.samples.filter(pl.col("flow").cast(pl.String) == name)
    taken = samples.filter(pl.col("time_ns").is_between(acks["time_ns"].min(), acks["time_ns"].max()))
    assert len(taken) > 400
    taken = taken.with_columns(pl.col("ca_state").cast(pl.String))
    columns = acks.select("time_ns", *BY_ACKS, *BY_TIMERS, "ca_state", sent="retransmitted_segments")
    behind, before = (
        taken.join_asof(columns, on="time_ns", strategy=side, suffix="_row") for side in ("forward", "backward")
    )
    beside = before if cc in WRITE_AFTER else behind
    same = {column: pl.col(column).eq_missing(pl.col(f"{column}_row")) for column in (*BY_ACKS, *BY_TIMERS, "ca_state")}
    for column in BY_ACKS:
        assert beside.select(same[column].all()).item(), column
    for column in BY_TIMERS:
        assert beside.select((same[column] | ~same["ca_state"]).all()).item(), column
    assert beside.select(same["ca_state"].mean()).item() > 0.97
    # Retransmissions go out between ACKs, when the pacing timer says.
    assert taken["retransmitted_segments"].is_between(before["sent"], behind["sent"]).all()


@TOGETHER
@EACH
def test_rows_show_the_algorithms_state(together: dumbbell.Run, name: str, cc: str) -> None:
    acks = rows(together, name)
    assert set(acks["moment"]) == {"after" if cc in WRITE_AFTER else "before", "close"}
    assert acks["time_ns"].is_sorted()
    assert acks["delivered_packets"].is_sorted()
    later = acks.filter((pl.col("moment") != "close") & (pl.col("time_ns") > 2e9))
    known = {column for column in STATES.values() if column and later[column].null_count() < len(later)}
    assert known == ({STATES[cc]} if STATES[cc] else set())
    if cc == "vegas":
        assert forgets_when_empty(later)
    elif STATES[cc]:
        assert later[STATES[cc]].null_count() == 0


def test_vegas_forgets_its_base_rtt_when_nothing_is_in_flight(tmp_path: Path) -> None:
    text = path(flow(cc="vegas"), rate="1 Mbit/s", bottleneck='buffer = "2 packets"', duration="6 s")
    acks = rows(run(text, tmp_path), "f1")
    acks = acks.filter((pl.col("moment") != "close") & (pl.col("time_ns") > 2e9))
    assert emptied(acks.filter(pl.col("ca_before") == "open")).any()
    assert forgets_when_empty(acks)


@TOGETHER
def test_the_kernels_bbr_is_read_as_it_tells_itself(together: dumbbell.Run) -> None:
    name = f"f{[*STATES].index('bbr') + 1}"
    acks = rows(together, name).filter(pl.col("moment") != "close")
    samples = together.samples.filter(pl.col("flow").cast(pl.String) == name)
    taken = samples.filter(pl.col("time_ns").is_between(acks["time_ns"].min(), acks["time_ns"].max()))
    columns = ("bbr_min_rtt_us", "bbr_pacing_gain", "bbr_cwnd_gain", "bbr_bw_bps")
    beside = taken.join_asof(acks.select("time_ns", *columns), on="time_ns", strategy="forward", suffix="_row")
    assert len(beside) > 400
    for column in columns[:3]:
        assert beside[column].equals(beside[f"{column}_row"]), column
    # It tells whole bytes per second.
    told, read = (beside[column].cast(pl.Int64) for column in ("bbr_bw_bps", "bbr_bw_bps_row"))
    assert (told - read).abs().max() <= 8


@TOGETHER
def test_states_of_linuxs_own_are_in_the_units_of_their_columns(together: dumbbell.Run) -> None:
    flows = {cc: rows(together, f"f{i}").filter(pl.col("time_ns") > 2e9) for i, cc in enumerate(STATES, 1)}
    goodput = {flow["cc"]: flow["goodput_bps"] for flow in together.summary["flows"]}
    least_us, most_us = 20_000, 45_000
    cubic, dctcp, htcp, vegas, westwood = (flows[cc] for cc in ("cubic", "dctcp", "htcp", "vegas", "westwood"))
    assert cubic["cubic_delay_min_us"].is_between(least_us, most_us).all()
    assert cubic["cubic_k_s"].drop_nulls().is_between(0, 10).all()
    assert dctcp["dctcp_alpha"].is_between(0, 1).all()
    assert htcp["htcp_beta"].is_between(0.5, 0.8).all()
    for column in ("htcp_min_rtt_us", "htcp_max_rtt_us"):
        # In ticks.
        assert (htcp[column] % 4000 == 0).all()
        assert htcp[column].is_between(least_us, most_us).all()
    assert (vegas["vegas_base_rtt_us"] >= vegas["min_rtt_us"]).all()
    assert vegas["vegas_base_rtt_us"].is_between(least_us, most_us).all()
    assert westwood["westwood_min_rtt_us"].is_between(least_us, most_us).all()
    for cc, column in (("htcp", "htcp_bandwidth_bps"), ("westwood", "westwood_bandwidth_bps")):
        mean = flows[cc][column].cast(pl.Float64).mean()
        assert isinstance(mean, float)
        assert 0.5 < mean / goodput[cc] < 2, cc


@TOGETHER
def test_the_verdict_has_seen_every_row(together: dumbbell.Run) -> None:
    found = checks(together)
    assert found["ack-rows"]["verdict"] == found["ack-coverage"]["verdict"] == "valid"
    assert "0 rows lost" in found["ack-rows"]["measured"]
    assert together.manifest["lab"]["acks"] == {"recorded": True, "why": None}
    assert together.acks is not None
    probe = json.loads((together.directory / "probe.json").read_text())
    assert (probe["rows"], probe["foreign_rows"]) == (together.acks.height, 0)


def packets(of: dumbbell.Run) -> pl.DataFrame:
    """Packets in the order in which they entered. Sequence numbers count from the first of each flow and link."""
    first = pl.col("tcp_seq").cast(pl.Int64).first().over("link", "flow")
    return of.packets.with_columns((pl.col("tcp_seq").cast(pl.Int64) - first) % 2**32).sort("packet", "link")


@pytest.mark.parametrize("engine", thorough_after(1, [VirtualEngine(), IN_A_PROCESS]))
def test_to_record_acks_changes_no_packet(tmp_path: Path, engine: VirtualEngine) -> None:
    flows = (flow(cc="cubic"), flow(cc="reno"))
    without = run(path(*flows, more="record = { acks = false }"), tmp_path / "without", engine)
    recorded = run(path(*flows), tmp_path / "recorded", engine)
    assert recorded.acks is not None
    assert without.acks is None
    ours, theirs = packets(recorded), packets(without)
    assert len(ours) == len(theirs) > 1000
    what = ["link", "flow", "packet", "size_bytes", "payload_bytes", "tcp_seq", "fate", "ecn"]
    assert ours.select(what).equals(theirs.select(what))
    # The probe is a process more to start and to end: steps of the clock.
    for time in ("arrival_ns", "departure_ns", "sent_ns"):
        assert (ours[time] - theirs[time]).abs().max() <= 10_000, time


def test_both_ways_of_links_record_the_same_acks(tmp_path: Path) -> None:
    inside, process = (
        run(path(flow(cc="reno")), tmp_path / str(i), engine)
        for i, engine in enumerate((VirtualEngine(), IN_A_PROCESS))
    )
    columns = ["moment", "cwnd_packets", "ssthresh_packets", "delivered_packets", "snd_una_bytes", "ca_state"]
    ours, theirs = rows(inside, "f1").select(columns), rows(process, "f1").select(columns)
    assert len(ours) > 500
    common = min(len(ours), len(theirs)) - 20
    assert ours[:common].equals(theirs[:common])


def test_a_source_of_the_users_shows_the_numbers_that_it_publishes(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text(PUBLISHING)
    cc = {"kernel": str(tmp_path / "mine.c"), "parameters": {"told": 7}}
    acks = rows(run(path(flow(cc=cc)), tmp_path), "f1")
    assert set(acks["own_value_1"]) == {7}
    assert acks["own_value_2"].is_sorted()
    assert acks["own_value_2"][-1] > 100
    assert acks["own_value_3"].null_count() == acks["bbr_state"].null_count() == len(acks)


def program(command: str) -> str:
    """A flow that does something to the processes of the run."""
    return flow(command=command)


def test_a_probe_that_is_killed_leaves_a_run_without_acks(tmp_path: Path) -> None:
    kill = program("sleep 0.5; pkill -KILL -x db-probe")
    found = run(path(flow(), kill), tmp_path)
    assert found.acks is None
    assert found.manifest["lab"]["acks"]["recorded"] is False
    assert "killed by SIGKILL" in found.manifest["lab"]["acks"]["why"]
    assert checks(found)["ack-rows"]["measured"].startswith("does not apply: ACKs were not recorded")


def test_a_run_that_insists_on_acks_fails_with_its_probe(tmp_path: Path) -> None:
    kill = program("sleep 0.5; pkill -KILL -x db-probe")
    with pytest.raises(RunFailed, match="killed by SIGKILL"):
        run(path(flow(), kill, more="record = { acks = true }"), tmp_path)


def test_rows_that_nobody_reads_in_time_are_counted(tmp_path: Path) -> None:
    pause = program("sleep 0.2; pkill -STOP -x db-probe; sleep 4; pkill -CONT -x db-probe")
    fast = path(
        flow(cc="reno"), pause, rate="1 Gbit/s", rtt="2 ms", duration="5 s", more="record = { packets = false }"
    )
    found = run(fast, tmp_path)
    told = checks(found)["ack-rows"]
    lost = json.loads((found.directory / "probe.json").read_text())["lost_rows"]
    assert lost > 0
    assert told["verdict"] == "suspect"
    assert told["measured"].startswith(f"{count(lost, 'row')} lost")


def test_parameters_of_what_comes_with_dumbbell(tmp_path: Path) -> None:
    """Flows side by side have parameters of their own."""
    algorithms = (
        {"name": "bbr3"},
        {"name": "bbr3", "parameters": {"startup_pacing_gain": 512}},
        {"name": "bpf_cubic"},
        {"name": "bpf_cubic", "parameters": {"beta": 512, "fast_convergence": False}},
    )
    flows = "".join(flow(f"s{i}", f"r{i}", cc=cc) for i, cc in enumerate(algorithms, 1))
    bottleneck = '{ rate = "20 Mbit/s", buffer = "0.5 bdp" }'
    found = run(
        f"""
name = "parameters"
duration = "5 s"
topology = {{ kind = "dumbbell", pairs = 4, rtt = "20 ms", bottleneck = {bottleneck} }}
{flows}""",
        tmp_path,
    )
    labels = [one["cc"] for one in found.summary["flows"]]
    assert labels[:2] == ["bbr3", "bbr3 (startup_pacing_gain=512)"]
    assert labels[2:] == ["bpf_cubic", "bpf_cubic (beta=512, fast_convergence=false)"]
    gains = [rows(found, name)["bbr_pacing_gain"][0] for name in ("f1", "f2")]
    assert gains == [710 / 256, 512 / 256]
    cubic, half = (_reductions(found, name) for name in ("f3", "f4"))
    # A loss leaves beta of the window, but two packets; the window is W_max, or more than W_max with fast convergence.
    assert (half["ssthresh_packets"] == (half["cubic_w_max_packets"] * 512 // 1024).clip(lower_bound=2)).all()
    assert (cubic["ssthresh_packets"] >= cubic["cubic_w_max_packets"] * 717 // 1024).all()


def test_receivers_of_flows_that_answer_marks_echo_each(tmp_path: Path) -> None:
    """They are told of marks only if the algorithm has TCP_CONG_NEEDS_ECN; else a mark stays in ACKs until a CWR."""
    found = run(
        """
name = "marks"
duration = "3 s"

[topology]
kind = "dumbbell"
pairs = 2
rtt = "4 ms"

[topology.bottleneck]
rate = "20 Mbit/s"
buffer = "4 bdp"
mark = "5 %"

[[flows]]
from = "s1"
to = "r1"
cc = { name = "bbr2", parameters = { ecn = true } }
ecn = true

[[flows]]
from = "s2"
to = "r2"
cc = { name = "bbr3", parameters = { ecn = true } }
ecn = true
""",
        tmp_path,
    )
    told = sum(samples["delivered_ce_packets"].max() for _, samples in found.samples.group_by("flow"))
    marks = found.summary["links"][0]["marks"]
    assert marks > 150
    # A delayed ACK may count a segment too many or too few, and some marks are on their way at the end.
    assert told == pytest.approx(marks, rel=0.1)


def _reductions(of: dumbbell.Run, name: str) -> pl.DataFrame:
    """The rows of a CUBIC flow whose W_max is new."""
    w_max = pl.col("cubic_w_max_packets")
    found = rows(of, name).filter(w_max != w_max.shift(1))
    assert len(found) > 5
    return found

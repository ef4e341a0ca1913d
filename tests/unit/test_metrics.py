"""Figures of runs against figures worked out by hand."""

from pathlib import Path
from typing import Any

import known_run
import polars as pl
import pytest

from dumbbell.analysis import metrics
from dumbbell.errors import DumbbellError
from dumbbell.plan.network import network
from dumbbell.records.files import write_json
from dumbbell.records.schema import polars_schema

Figures = dict[str, Any]


@pytest.fixture(scope="module")
def packets() -> pl.DataFrame:
    return known_run.packets()


@pytest.fixture(scope="module")
def links() -> pl.DataFrame:
    return known_run.links()


def run(directory: Path, plan: dict[str, Any] = known_run.PLAN, **tables: pl.DataFrame | None) -> Path:
    """The known run with other tables; `None`: without."""
    files = known_run.engine_output() | {f"{name}.parquet": table for name, table in tables.items()}
    known_run.make(directory, files={name: content for name, content in files.items() if content is not None})
    write_json(directory / "plan.json", plan)
    return directory


def compute(directory: Path) -> tuple[dict[str, Figures], dict[str, Figures]]:
    """The figures of flows and of links, by name."""
    found = metrics.compute(directory, "emulator.json")
    return {flow["id"]: flow for flow in found["flows"]}, {link["name"]: link for link in found["links"]}


def account(directory: Path, **changes: Any) -> Figures:
    """The figures of f1 if its account says so."""
    traffic = known_run.engine_output()["traffic.json"]
    traffic["flows"][0] |= changes
    write_json(directory / "traffic.json", traffic)
    return compute(directory)[0]["f1"]


def test_goodput(tmp_path: Path) -> None:
    run(tmp_path)
    assert account(tmp_path, received_bytes=1_250_000, start_ns=1_000_000_000)["goodput_bps"] == 10e6
    assert account(tmp_path, received_bytes=0)["goodput_bps"] == 0
    assert account(tmp_path, received_bytes=1, start_ns=known_run.DURATION_NS)["goodput_bps"] is None


def test_goodput_is_the_nearest_float(tmp_path: Path) -> None:
    """Bits times 10^9 don't fit a float: dividing rounded numbers would end one digit off now and then."""
    run(tmp_path)
    for received in range(123_456_789_012, 123_456_789_112):
        found = account(tmp_path, received_bytes=received, start_ns=7)["goodput_bps"]
        assert found == 8 * received * 10**9 / (known_run.DURATION_NS - 7)


def test_throughput_counts_repetitions(tmp_path: Path) -> None:
    """A tenth of what f1 sends is sent again; f2 was never sampled."""
    sent = known_run.samples().filter(pl.col("flow") == "f1")
    sent = sent.with_columns(bytes_sent=pl.col("bytes_sent") * 11 // 10)
    flows, _ = compute(run(tmp_path, samples=sent))
    assert (flows["f1"]["throughput_bps"], flows["f1"]["goodput_bps"]) == (6.6e6, 6e6)
    assert flows["f2"]["throughput_bps"] is None


def between(directory: Path, start_ns: int, end_ns: int) -> metrics.Span:
    return metrics.between(directory, start_ns, end_ns)


def test_received_between_two_times(tmp_path: Path) -> None:
    flows = [*known_run.PLAN["flows"], known_run.PLAN["flows"][0] | {"id": "silent", "port": 1}]
    found = between(run(tmp_path, known_run.PLAN | {"flows": flows}), 500_000_000, 1_500_000_000)
    assert found.received_bytes == {"f1": 750_000, "f2": 250_000, "silent": 0}
    assert found.jain_index == 1_000_000**2 / (3 * (750_000**2 + 250_000**2))


def test_received_counts_from_zero_before_the_first_sample(tmp_path: Path) -> None:
    assert between(run(tmp_path), 0, 2_000_000_000).received_bytes["f1"] == 1_500_000


def test_queueing_delay_is_the_time_in_the_queue_of_packets_that_left(tmp_path: Path, packets: pl.DataFrame) -> None:
    _, found = compute(run(tmp_path))
    assert found["bottleneck"]["queue_ms"] == pytest.approx({"p50": 3.7888, "p95": 3.7888, "max": 3.7888})
    assert found["bottleneck-reverse"]["queue_ms"] is None
    long = packets.with_columns(sojourn_ns=pl.when(pl.col("packet") < 10).then(10**9).otherwise("sojourn_ns"))
    assert compute(run(tmp_path, packets=long))[1]["bottleneck"]["queue_ms"]["max"] == 1000
    dropped = pl.when(pl.col("packet") >= 10).then("departure_ns")
    only_dropped = run(tmp_path, packets=long.with_columns(departure_ns=dropped))
    assert compute(only_dropped)[1]["bottleneck"]["queue_ms"]["max"] < 4


def test_queueing_delay_of_a_flow_adds_up_its_way(tmp_path: Path, packets: pl.DataFrame) -> None:
    """f1 waits at two links, f2 crosses one of the two, and the rows of the reverse link are acknowledgements."""
    host = {"kind": "host", "sysctl": {}}
    plan = known_run.PLAN | {
        "nodes": [
            *(host | {"name": f"h{n}", "address": f"10.0.0.{n}"} for n in (1, 2, 3)),
            {"kind": "switch", "name": "s"},
        ],
        "links": [
            known_run.link("bottleneck", "h1", "s"),
            known_run.link("second", "s", "h2"),
            known_run.link("third", "s", "h3", None),
            known_run.link("bottleneck-reverse", "h2", "h1"),
            known_run.link("back", "h3", "h1"),
        ],
        "flows": [flow | {"to": to} for flow, to in zip(known_run.PLAN["flows"], ("h2", "h3"), strict=True)],
    }
    named = {name: pl.lit(name).cast(pl.Categorical) for name in ("second", "third", "bottleneck-reverse")}
    second = packets.filter(pl.col("flow") == "f1").with_columns(
        link=named["second"], sojourn_ns=pl.lit(1_000_000, pl.Int64)
    )
    third = packets.filter(pl.col("flow") == "f2").with_columns(link=named["third"], sojourn_ns=pl.lit(0, pl.Int64))
    back = packets.with_columns(link=named["bottleneck-reverse"], sojourn_ns=pl.lit(10**9, pl.Int64))
    files = known_run.engine_output()
    spare = files["emulator.json"]["links"][1]
    files["emulator.json"]["links"] += [spare | {"name": name} for name in ("second", "third", "back")]
    files["packets.parquet"] = pl.concat([packets, second, third, back])
    known_run.make(tmp_path, files=files)
    write_json(tmp_path / "plan.json", plan)
    delays = {flow: found["queue_ms"]["max"] for flow, found in compute(tmp_path)[0].items()}
    assert delays == pytest.approx({"f1": 4.7888, "f2": 3.7888})


def test_queueing_delay_of_a_flow_is_of_packets_that_arrived(tmp_path: Path, packets: pl.DataFrame) -> None:
    lost = pl.col("packet") % 4 == 0
    frame = packets.with_columns(
        fate=pl.when(lost).then(pl.lit("lost-after")).otherwise(pl.lit("delivered")),
        sojourn_ns=pl.when(lost).then(10**9).otherwise("sojourn_ns"),
    )
    assert compute(run(tmp_path, packets=frame))[0]["f1"]["queue_ms"]["max"] == pytest.approx(3.7888)


def test_marked_share_is_of_ecn_capable_packets_that_arrived(tmp_path: Path, packets: pl.DataFrame) -> None:
    n = pl.col("packet")
    ecn = pl.when(n % 2 == 1).then(pl.lit("not-ect")).when(n % 8 == 0).then(pl.lit("ce")).otherwise(pl.lit("ect0"))
    frame = packets.filter(n < 1600).with_columns(ecn=ecn)
    flows, _ = compute(run(tmp_path, packets=frame))
    assert [(flow["ce_packets"], flow["ce_share"]) for flow in flows.values()] == [(200, 0.25), (None, None)]
    none_arrived = frame.with_columns(fate=pl.lit("dropped-tail"))
    flows, _ = compute(run(tmp_path, packets=none_arrived))
    assert [(flow["ce_packets"], flow["ce_share"]) for flow in flows.values()] == [(None, None)] * 2


def test_marked_share_of_a_link(tmp_path: Path, links: pl.DataFrame) -> None:
    marked = links.with_columns(marked_packets=pl.col("departed_packets") // 10)
    last = links["departed_packets"].max()
    _, found = compute(run(tmp_path, links=marked))
    assert found["bottleneck"]["marked_share"] == last // 10 / last  # type: ignore[operator]
    assert found["bottleneck-reverse"]["marked_share"] is None


def utilisation(directory: Path, links: pl.DataFrame, start_ns: int, end_ns: int) -> dict[str, float | None]:
    extra = [*known_run.PLAN["links"], known_run.link("nothing", "elsewhere", "h2")]
    nodes = [*known_run.PLAN["nodes"], {"kind": "switch", "name": "elsewhere"}]
    plan = known_run.PLAN | {"links": extra, "nodes": nodes}
    return dict(between(run(directory, plan, links=links), start_ns, end_ns).utilisation)


def test_utilisation(tmp_path: Path, links: pl.DataFrame) -> None:
    # Back to back from 10 ms on: 100 % from there, and the 10 ms missing at the start.
    late = utilisation(tmp_path, links, 1_000_000_000, 2_000_000_000)
    early = utilisation(tmp_path, links, 0, 1_000_000_000)
    assert late["bottleneck"] == pytest.approx(1.0, abs=0.0013)
    assert early["bottleneck"] == pytest.approx(0.99, abs=0.0013)
    assert early["bottleneck-reverse"] == 0
    assert early["nothing"] is None


def test_utilisation_follows_a_rate_that_changes(tmp_path: Path, links: pl.DataFrame) -> None:
    """Ten times the rate in the second second, and the same packets: a tenth of it is used."""
    at = pl.col("time_ns")
    faster = pl.when(at > 10**9).then(1_250_000 + (at - 10**9) * 10 // 800).otherwise(at // 800)
    frame = links.with_columns(capacity_bytes=faster.cast(pl.UInt64))
    assert utilisation(tmp_path, frame, 10**9, 2 * 10**9)["bottleneck"] == pytest.approx(0.1, abs=0.0013)
    assert utilisation(tmp_path, frame, 0, 2 * 10**9)["bottleneck"] == pytest.approx(1.99 / 11, abs=0.0013)


def test_utilisation_needs_a_rate_at_all_times(tmp_path: Path, links: pl.DataFrame) -> None:
    late = links.with_columns(capacity_bytes=pl.when(pl.col("time_ns") >= 10**9).then("capacity_bytes"))
    assert utilisation(tmp_path, late, 0, 2 * 10**9)["bottleneck"] is None
    assert utilisation(tmp_path, late, 10**9, 2 * 10**9)["bottleneck"] == pytest.approx(1.0, abs=0.0013)
    paused = links.with_columns(capacity_bytes=pl.lit(1000, pl.UInt64))
    assert utilisation(tmp_path, paused, 10**9, 2 * 10**9)["bottleneck"] is None


def test_queueing_delay_from_links(tmp_path: Path, links: pl.DataFrame) -> None:
    _, found = compute(run(tmp_path, packets=None))
    delay = found["bottleneck"]["queue_ms"]
    assert (delay["p50"], delay["max"]) == pytest.approx((3 * 1.2112, 4 * 1.2112))
    nothing = run(tmp_path / "nothing", packets=None, links=links.clear())
    assert compute(nothing)[1]["bottleneck"]["queue_ms"] is None


def test_completion_time(tmp_path: Path) -> None:
    first, second = known_run.PLAN["flows"]
    sized = first | {"workload": first["workload"] | {"bytes": 1000}}
    run(tmp_path, known_run.PLAN | {"flows": [sized, second]})
    assert account(tmp_path, start_ns=500_000_000, end_ns=2_000_000_000)["fct_s"] == 1.5
    assert account(tmp_path, end_ns=2_000_000_000, completed=False)["fct_s"] is None
    run(tmp_path)
    assert account(tmp_path, end_ns=2_000_000_000)["fct_s"] is None


def test_base_rtt_is_there_and_back() -> None:
    plan = known_run.plan()
    assert network(plan).base_rtt_ns(plan.flows[0]) == 20_000_000
    assert network(plan).base_rtts_ns == [20_000_000]


def test_the_least_rtt_is_that_of_the_best_moment() -> None:
    """10 ms there until an event makes it 4, or where packets may overtake, which have a delay of 1 ms."""
    link = next(one for one in known_run.PLAN["links"] if one["name"] == "bottleneck")

    def least_rtt_ns(*events: dict[str, Any]) -> int:
        plan = known_run.plan(events=events)
        return network(plan).least_rtt_ns(plan.flows[0])

    later = {"at_ns": 10**9, "link": {**link, "delay_ns": link["delay_ns"] - 4_000_000}}
    assert least_rtt_ns() == 20_000_000
    assert least_rtt_ns(later) == 16_000_000
    reorder = {"probability": 0.1, "correlation": 0.0, "gap": 1, "delay_ns": link["delay_ns"] - 1_000_000}
    later = {"at_ns": 10**9, "link": {**link, "delay_ns": 10**9, "reorder": reorder}}
    assert least_rtt_ns(later) == 19_000_000


def test_no_figure_is_nan(tmp_path: Path) -> None:
    empty = {name: pl.DataFrame(schema=polars_schema(name)) for name in ("samples", "packets", "links")}
    flows, links = compute(run(tmp_path, **empty))
    assert flows
    assert links
    for flow in flows.values():
        assert [flow[key] for key in ("queue_ms", "ce_packets", "ce_share", "converged")] == [None] * 4
        assert flow["rtt_ms"] == {"min": None, "p50": None, "p95": None}
    for link in links.values():
        assert [link[key] for key in ("utilisation", "queue_ms", "marked_share")] == [None] * 3


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "links.parquet").write_bytes(b"PAR1")
    with pytest.raises(DumbbellError, match="cannot compute metrics for") as error:
        metrics.compute(tmp_path, "emulator.json")
    assert "links.parquet" in str(error.value)

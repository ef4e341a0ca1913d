"""The tables that `dumbbell run` prints: what occurred, and no column for what didn't."""

from __future__ import annotations

from typing import Any

from dumbbell.cli.run import _flows, _links
from dumbbell.plan.view import Table

FATES = tuple(f"dropped-{reason}" for reason in ("tail", "head", "early", "policed", "delay-line", "down"))


def link(dropped: dict[str, int] | None = None, **changes: Any) -> dict[str, Any]:
    by_reason = dict.fromkeys(FATES, 0) | (dropped or {})
    nothing = dict.fromkeys(("losses", "marks", "duplicates", "reordered", "corrupted"), 0)
    return {
        **{"name": "bottleneck", "rate_bps": 10_000_000, "utilisation": 0.5, **nothing},
        **{"drops": sum(by_reason.values()), "drops_by_reason": by_reason, "queue_ms": None, **changes},
    }


def flow(**changes: Any) -> dict[str, Any]:
    rtt = {"min": 1.0, "p50": 2.0, "p95": 3.0}
    return {
        **{"label": "f1 cubic", "from": "h1", "to": "h2", "goodput_bps": 1e6, "rtt_ms": rtt, "fct_s": None},
        **{"retransmitted_segments": 4, "ce_packets": None, "ce_share": None, **changes},
    }


def of_links(*links: dict[str, Any]) -> Table:
    found: Table = _links({"links": links})
    return found


def test_a_full_buffer_needs_no_reason() -> None:
    table = of_links(link({"dropped-tail": 7}), link(rate_bps=None))
    assert table.columns == ["link", "rate", "utilisation", "drops", "queue p50", "p95", "max (ms)"]
    assert [row[3] for row in table.rows] == ["7"], "links without a rate have no row"


def test_other_drops_stand_by_reason() -> None:
    table = of_links(link({"dropped-tail": 1, "dropped-early": 30}), link({"dropped-down": 5}))
    assert table.columns[3:6] == ["tail drops", "early drops", "down drops"]
    assert [row[3:6] for row in table.rows] == [["1", "30", "0"], ["0", "0", "5"]]


def test_what_else_befell_packets_has_a_column_where_it_did() -> None:
    table = of_links(link(marks=12, losses=3), link(reordered=2))
    assert table.columns[3:7] == ["drops", "losses", "marks", "reordered"]
    assert [row[3:7] for row in table.rows] == [["0", "3", "12", "0"], ["0", "0", "0", "2"]]


def test_flows_show_marks_and_completion_only_where_there_are_any() -> None:
    plain: Table = _flows({"flows": [flow(), flow(ce_packets=0, ce_share=0.0)]})
    assert plain.columns[-1] == "retransmitted"
    both: Table = _flows({"flows": [flow(ce_packets=5, ce_share=0.0123, fct_s=1.5), flow()]})
    assert both.columns[-2:] == ["ECN-marked", "completed in"]
    assert [row[-2:] for row in both.rows] == [["1.2 %", "1.5 s"], ["–", "–"]]  # noqa: RUF001  unknown

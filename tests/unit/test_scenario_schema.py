import tomllib
from typing import Any

import jsonschema
import pytest

from dumbbell.scenario import bundled
from dumbbell.scenario.file.schema import json_schema

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", bundled.names())
def test_accepts_the_bundled_scenarios(name: str) -> None:
    assert list(VALIDATOR.iter_errors(tomllib.loads(bundled.text(name)))) == []


def changed(**changes: Any) -> dict[str, Any]:
    return {**tomllib.loads(bundled.text("single-flow")), **changes}


def bottleneck(keys: dict[str, Any]) -> dict[str, Any]:
    return {"topology": {"kind": "path", "rtt": "9 ms", "bottleneck": {"rate": "1 Mbit/s", **keys}}}


@pytest.mark.parametrize(
    "changes",
    [
        {"duration": "20"},
        {"duration": 20},
        {"sed": 1},
        {"flows": []},
        {"flows": [{"from": "h1"}]},
        {"flows": [{"from": "h1", "to": "h2", "protocol": "udp"}]},
        {"flows": [{"from": "h1", "to": "h2", "rate": "1 Mbit/s"}]},
        {"hosts": {"sysctl": {"kernel.panic": 1}}},
        {"topology": {"kind": "ring"}},
        {"sweep": {"flows.0.cc": "bbr"}},
        {"sweep": {"topology.rtt": {"logs": ["1 ms", "9 ms"]}}},
        {"sweep": {"cases": [{"flows.0.cc": "bbr"}]}},
        {"repeat": "often"},
        {"repeat": {"until": 5}},
        {"expect": [{"min": 1}]},
        {"expect": [{"metric": "goodput", "within": [1]}]},
        {"events": [{"rate": "1 Mbit/s"}]},
        {"events": [{"at": "1 s", "speed": "1 Mbit/s"}]},
        *map(
            bottleneck,
            [
                {"rate": {"wave": "sine"}},
                {"rate": {"steps": [["0 s", "1"]]}},
                {"queue": "sfq"},
                {"queue": {"kind": "drop-tail", "ecn": True}},
                {"queue": {"kind": "codel", "ce_threshold": "30 packets"}},
                {"loss": {"model": "burst", "rate": "1 %"}},
                {"jitter": {"distribution": "gamma"}},
                {"delay_line": "15 ms"},
            ],
        ),
    ],
)
def test_refuses_what_dumbbell_refuses(changes: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(changed(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"hosts": {"sysctl": {"net.ipv4.tcp_sack": 0}, "h1": {"sysctl": {"net.ipv4.tcp_ecn": "1"}}}},
        {"flows": [{"from": "h1", "to": "h2", "protocol": "udp", "rate": "10Mbps"}]},
        {"flows": [{"from": "h1", "to": "h2", "command": "true"}]},
        {"sweep": {"flows.0.cc": ["bbr"], "topology.rtt": {"log": ["1 ms", "9 ms"], "points": 3}}},
        {"sweep": {"zip": [{"a": [1, 2], "b": {"linear": [1, 2], "step": 1}}], "cases": [{"name": "x", "c": {}}]}},
        {"repeat": 3, "expect": [{"metric": "goodput", "min": "1 Mbit/s", "where": {"flows.0.cc": "bbr"}}]},
        {"repeat": {"until": "5 %", "of": "goodput"}, "expect": [{"metric": "drops", "within": [1, 2]}]},
        {"events": [{"at": "1 s", "loss": "none", "delay_line": "unlimited"}, {"at": "2 s", "down_for": "1 ms"}]},
        *map(
            bottleneck,
            [
                {"rate": {"steps": [["0 s", "1 Mbit/s"], ["1 s", "0 bit/s"]], "period": "2 s"}},
                {"rate": {"trace": "cell.trace"}},
                {"rate": "unlimited"},
                {"queue": "red"},
                {"queue": {"kind": "ared", "min_th": "5 packets"}},
                {"loss": ["1 %", {"model": "four-state", "p13": "1 %"}]},
                {"loss": {"rate": "1 %", "position": "after-queue"}},
                {"jitter": "1 ms", "reorder": {"rate": "1 %", "gap": 5}, "duplicate": "none"},
                {"jitter": {"max": "1 ms"}},
                {"slots": {"interval": "2 ms", "packets": 32}, "policer": {"rate": "1 Mbit/s", "burst": "9 kB"}},
            ],
        ),
    ],
)
def test_accepts_what_dumbbell_accepts(changes: dict[str, Any]) -> None:
    assert VALIDATOR.is_valid(changed(**changes))


def described(schema: Any, path: str = "") -> list[str]:
    """Keys without a description."""
    if isinstance(schema, list):
        return [p for item in schema for p in described(item, path)]
    if not isinstance(schema, dict):
        return []
    lacking = []
    for name, item in schema.get("properties", {}).items():
        if "description" not in item and "$ref" not in item:
            lacking.append(f"{path}.{name}")
    return lacking + [p for key, value in schema.items() for p in described(value, f"{path}.{key}")]


def test_every_key_is_described() -> None:
    assert described(SCHEMA) == []


def test_no_nulls_and_no_invented_titles() -> None:
    text = repr(SCHEMA)
    assert "'null'" not in text
    assert "'title': 'Sample Interval'" not in text


def test_no_words_of_pydantic_and_no_default_where_there_is_none() -> None:
    assert not {"le", "ge"} & set(every_key(SCHEMA))
    assert "default" not in SCHEMA["$defs"]["Event"]["properties"]["up"]
    assert SCHEMA["$defs"]["Reverse"]["properties"]["up"]["default"] is True


def every_key(schema: Any) -> list[str]:
    parts = list(schema.values()) if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    return [*(schema if isinstance(schema, dict) else []), *(key for part in parts for key in every_key(part))]

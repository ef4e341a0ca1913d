"""Requests that nobody would send, from the server's description of its API: it answers or refuses, and never fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance
from serving import PATIENCE_S, Served, serving

SCENARIO = 'name = "a"\nduration = "1 s"\n[topology]\nkind = "graph"\n'
EXAMPLES = 12
"""For each operation: seconds for all."""
CHECKS = (not_a_server_error, response_schema_conformance)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "a.toml").write_text(SCENARIO)
    with serving(folder) as found:
        yield found


def test_no_request_is_a_fault_of_the_server(served: Served) -> None:
    at = f"http://127.0.0.1:{served.port}"  # Browsers find names below localhost, others need not.
    described = schemathesis.openapi.from_url(f"{at}/api/openapi.json", headers=served.headers)
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) > 30
    answers: Counter[int] = Counter()
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        def ask(case: Any) -> None:
            answer = case.call_and_validate(base_url=at, headers=served.headers, checks=CHECKS, timeout=PATIENCE_S)
            answers[answer.status_code] += 1

        ask()
    # They come through to what answers them: some are in order, and most are refused for what they say.
    assert answers[200] > 30
    assert answers[400] + answers[404] + answers[422] > 100
    assert not answers[403], "the guard before everything refused its own page"

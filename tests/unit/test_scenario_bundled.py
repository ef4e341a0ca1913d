import pytest

from dumbbell.plan.expand import expand
from dumbbell.scenario import bundled
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.traffic.kinds.tcp import TcpFlow


@pytest.mark.parametrize("name", bundled.names())
def test_is_named_as_its_file_and_can_be_planned(name: str) -> None:
    scenario = load(name)
    assert scenario.name == name
    assert 0 < len(scenario.description) <= 80
    assert expand(scenario).name == name


def test_the_main_one_is_what_the_documentation_says() -> None:
    scenario = load("bbr-vs-cubic")
    assert str(scenario.duration) == "20 s"
    assert str(scenario.topology.bottleneck.rate) == "100 Mbit/s"
    assert str(scenario.topology.bottleneck.buffer) == "1 bdp"
    assert [(f.from_, f.to, str(f.cc), str(f.start)) for f in scenario.flows if isinstance(f, TcpFlow)] == [
        ("s1", "r1", "cubic", "0 s"),
        ("s2", "r2", "bbr", "2 s"),
    ]

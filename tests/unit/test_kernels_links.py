"""Links of the kernel's own: where they go into the plan, and every key that they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import known_run
import pytest
from refused import BASE, refused

import dumbbell
from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.engines.realm import qdiscs as emulate_qdiscs
from dumbbell.engines.registry import engine
from dumbbell.engines.virtual import refusals
from dumbbell.kernels import Kernel
from dumbbell.plan import qdiscs, wire
from dumbbell.plan.expand import expand

KERNELS = '[emulate]\nlinks = "kernel"\n'
QUEUES = "drop-tail, codel, fq-codel, pie, red, fq, cake"
FOREIGN = {
    'jitter = { max = "1 ms", correlation = "25 %" }': "netem correlates other numbers than ours",
    'jitter = { distribution = "pareto", min = "1 ms", shape = 3 }': "netem has no jitter of this distribution",
    'jitter = { distribution = "normal", mean = "1 ms", sd = "1 ms" }': "netem's normal jitter is not cut at zero",
    'jitter = "3 us"': "tc counts whole microseconds",
    'reorder = { rate = "1 %", gap = 5 }': "netem's gap counts otherwise than ours",
    'reorder = { rate = "1 %", correlation = "25 %" }': "netem correlates other numbers than ours",
    'reorder = { rate = "1 %", delay = "1 ms" }': "netem's packets overtake at once",
    'duplicate = "1 %"': "netem's copies enter another place than ours",
    'corrupt = "1 %"': "the kernel does not tell which packets it changed",
    'mark = "1 %"': "netem marks no packets at random but in place of losses",
    'policer = { rate = "8 Mbit/s", burst = "30 kB" }': "tbf is the only bucket of tokens on the kernel's links",
    'slots = { interval = "2 ms" }': "netem's slots begin and end otherwise than ours",
    'delay = "10000500 ns"': "the delay of bottleneck is 10.0005 ms, and tc counts whole microseconds",
    'overhead = "4 B"': "tbf counts overhead in the rate but not in the buffer",
    'queue = "drop-head"': f"of the kernel's queues {QUEUES} can be had, and not drop-head",
    'queue = { kind = "fq", flows = 1000 }': "the kernel's fq has powers of two",
    'queue = "dualpi2"': f"of the kernel's queues {QUEUES} can be had, and not dualpi2",
    'queue = { kind = "pie", max_burst = "1 s" }': "the kernel's PIE has a burst of its own",
    'queue = { kind = "pie", ecn = true, mark_ecnth = "20 %" }': "the kernel's PIE drops above a probability of its",
    'queue = { kind = "pie", alpha = 0.1 }': "0.1 is not given to tc, which counts sixteenths up to 2",
    'queue = { kind = "red", weight = 0.25 }': "the kernel's RED is not gentle",
    'queue = { kind = "red", gentle = false }': "the kernel's RED weighs by powers of two, and 0.002 is none",
    'queue = "ared"': "the kernel's RED does not adapt when tc sets it up",
    'queue = { kind = "red", adaptive = true, gentle = false }': "the kernel's RED does not adapt when tc sets it up",
    'queue = { kind = "cake", ecn = false }': "the kernel's CAKE always marks",
    'queue = { kind = "cake", quantum = "1000 B" }': "the kernel's CAKE has the quantum of its rate",
    'queue = { kind = "drop-tail", ce_threshold = "30 kB" }': "the kernel's drop-tail marks no packets",
    'queue = { kind = "codel", target = "1500 ns" }': "1.5 us is not given to tc, which counts whole microseconds",
    'queue = { kind = "codel", ecn = true, ce_threshold = "1 ms" }': "nothing tells for which of two reasons",
    'loss = { model = "correlated", rate = "1 %", correlation = "25 %" }': "netem has no losses like correlated",
    'loss = ["1 %", "2 %"]': "netem has one process of loss at a place",
}


def kernel_with(*qdiscs: str) -> Kernel:
    nowhere = Path("/nowhere/linux")
    named = {"name": "6.12", "version": "6.12.94", "hash": "ab" * 32}
    return Kernel(**named, path=nowhere, patches=(), algorithms=("cubic",), sysctls=(), qdiscs=qdiscs)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def link(keys: str) -> str:
    return BASE.replace("[[flows]]", f"{keys}\n\n[[flows]]") + KERNELS


@pytest.mark.parametrize("keys", FOREIGN)
def test_a_key_that_no_discipline_obeys_is_refused(keys: str) -> None:
    key = keys.partition(" =")[0]
    buffer = "300 kB" if '"red"' in keys else "unlimited" if '"fq"' in keys or '"cake"' in keys else "100 packets"
    said = refused(link(keys).replace("100 packets", buffer))
    assert said.startswith(f"my.toml:12: topology.bottleneck.{key}")
    assert FOREIGN[keys] in said
    assert 'hint: change the key, or links = "ours"' in said


def test_codel_is_the_kernels_if_the_buffer_is_in_packets() -> None:
    text = link('queue = { kind = "codel", ecn = true }')
    Path("my.toml").write_text(text)
    plan = expand(dumbbell.load("my.toml"))
    assert plan.emulate.links == "kernel"
    said = refused(text.replace('"100 packets"', '"30 kB"'))
    assert "topology.bottleneck.buffer" in said
    assert "the kernel's CoDel counts packets, and the buffer of bottleneck has another unit" in said
    assert 'hint: give the buffer in packets, or links = "ours"' in said


@pytest.mark.parametrize(
    ("queue", "why", "buffer"),
    [
        ('"fq-codel"', "the kernel's FQ-CoDel counts packets", "30 kB"),
        ('"pie"', "the kernel's PIE counts packets", "30 kB"),
        ('"cake"', "the kernel's CAKE counts memory", "30 kB"),
        ('"fq"', "the kernel's fq drops what comes", "30 kB"),
        ('{ kind = "red", gentle = false, weight = 0.0078125 }', "the kernel's RED counts bytes", "100 packets"),
    ],
)
def test_a_queue_has_a_buffer_in_the_kernels_unit(queue: str, why: str, buffer: str) -> None:
    text = link(f"queue = {queue}").replace('"100 packets"', f'"{buffer}"')
    said = refused(text)
    assert why in said
    assert ", and the buffer of bottleneck has another unit" in said
    Path("my.toml").write_text(text.replace(f'"{buffer}"', '"unlimited"').replace("gentle", 'max_th = "30 kB", gentle'))
    assert expand(dumbbell.load("my.toml")).emulate.links == "kernel"


def test_jitter_may_overtake_only() -> None:
    text = link('jitter = "2 ms"')
    said = refused(text)
    assert "topology.bottleneck.jitter" in said
    assert "netem's jitter reorders packets" in said
    assert 'hint: add the key, or links = "ours"' in said
    Path("my.toml").write_text(text.replace("[[flows]]", "reordering = true\n\n[[flows]]"))
    assert expand(dumbbell.load("my.toml")).links


def test_packets_may_overtake_at_once_each_by_its_own_lot() -> None:
    text = link('reorder = "2 %"')
    Path("my.toml").write_text(text)
    assert expand(dumbbell.load("my.toml")).links[0].reorder
    assert "netem lets no packet overtake where nothing is delayed" in refused(
        text.replace("[[flows]]", 'delay = "0 s"\n\n[[flows]]', 1)
    )


MININET = '[emulate]\nlinks = "mininet"\n'


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('queue = "fq-codel"', "netem is the only queue in Mininet's links"),
        ('delay_line = "10 packets"', "the buffer of Mininet's links is netem's limit"),
        ('reorder = "1 %"', "Mininet gives no such word to netem"),
        ('loss = { rate = "1 %", position = "after-queue" }', "Mininet's links lose packets before they wait"),
        ('overhead = "4 B"', "tbf counts overhead in the rate but not in the buffer"),
    ],
)
def test_mininets_links_refuse_what_they_lack(keys: str, why: str) -> None:
    said = refused(link(keys).replace(KERNELS, MININET))
    assert said.startswith(f"my.toml:12: topology.bottleneck.{keys.partition(' =')[0]}")
    assert why in said


def test_bursts_stay_whole_on_mininets_links_unless_they_cross_one_by_one() -> None:
    for more, found in (("", ("gso", True)), ('path = "wire"\n', ("wire", False))):
        Path("my.toml").write_text(BASE + MININET + more)
        plan = expand(dumbbell.load("my.toml"))
        assert plan.emulate.links == "mininet"
        assert (plan.emulate.path, plan.emulate.whole_bursts) == found


def test_mininets_links_want_htb() -> None:
    Path("my.toml").write_text(BASE + MININET)
    (problem,) = refusals.check(dumbbell.load("my.toml"), kernel_with("netem", "tbf"))
    assert "the kernel 6.12 lacks htb" in problem.text()


def test_a_rate_that_changes_is_refused() -> None:
    rate = '{ steps = [["0 s", "5 Mbit/s"], ["1 s", "9 Mbit/s"]] }'
    text = (BASE + KERNELS).replace('"10 Mbit/s"', rate).replace('"100 packets"', '"30 kB"')
    assert "topology.bottleneck.rate: tbf has a constant rate" in refused(text)


def test_the_other_direction_is_refused_where_it_stands() -> None:
    text = link('\n[topology.bottleneck.reverse]\nqueue = "drop-head"')
    said = refused(text)
    assert said.startswith("my.toml:14: topology.bottleneck.reverse.queue")
    assert f"of the kernel's queues {QUEUES} can be had, and not drop-head" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[[events]]\nat = "1 s"\nrate = "5 Mbit/s"\n', "my.toml:15: events.0: the kernel's links stay as they are"),
        ('path = "gso"\n', 'my.toml:17: emulate.path = "gso": the kernel\'s links carry packets one by one'),
    ],
)
def test_what_is_not_a_key_of_a_link_is_refused(more: str, said: str) -> None:
    text = BASE + (KERNELS + more if more.startswith("path") else more + KERNELS)
    assert said in refused(text)


def test_a_delay_beside_the_bottleneck_is_refused_where_tc_cannot_count_it() -> None:
    text = BASE.replace('"path"', '"dumbbell"').replace('"30 ms"', '"30001 us"').replace("h1", "s1").replace("h2", "r1")
    text = text.replace("buffer =", 'delay = "10 ms"\nreverse.delay = "10 ms"\nbuffer =')
    said = refused(text + KERNELS)
    assert "the delay of right-r1 is 5.0005 ms, and tc counts whole microseconds" in said
    assert "bottleneck" not in said


def test_a_plan_of_our_links_has_no_word_of_it() -> None:
    Path("ours.toml").write_text(BASE + '[emulate]\nlinks = "ours"\n')
    Path("base.toml").write_text(BASE)
    texts = [wire.text(expand(dumbbell.load(name))) for name in ("ours.toml", "base.toml")]
    assert texts[0] == texts[1]
    assert '"links": "kernel"' not in texts[0].replace('":"', '": "')


def test_packets_cross_one_by_one_at_any_rate() -> None:
    Path("fast.toml").write_text((BASE + KERNELS).replace("10 Mbit/s", "10 Gbit/s"))
    plan = expand(dumbbell.load("fast.toml"))
    assert (plan.emulate.links, plan.emulate.path) == ("kernel", "wire")


@pytest.mark.parametrize(
    ("name", "what"),
    [(EMULATE, "this machine's kernel lacks netem, tbf"), (SIMULATE, "a simulation has no kernel")],
)
def test_other_engines_refuse_what_they_lack(name: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulate_qdiscs, "has", lambda name: False)
    Path("my.toml").write_text(BASE + KERNELS)
    scenario = dumbbell.load("my.toml")
    said = [problem.text() for problem in engine(name).check(scenario, expand(scenario))]
    assert any(what in text and "--engine virtual" in text for text in said), said


def test_real_time_takes_links_that_this_kernel_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulate_qdiscs, "has", lambda name: True)
    Path("my.toml").write_text(BASE + KERNELS)
    scenario = dumbbell.load("my.toml")
    assert not list(emulate_qdiscs.check(scenario, expand(scenario)))


@pytest.mark.parametrize(
    ("keys", "links", "names"),
    [
        ("", "kernel", ("netem", "tbf")),
        ('queue = "fq-codel"', "kernel", ("fq_codel", "netem", "tbf")),
        ("", "mininet", ("htb", "netem")),
        ("", "ours", ()),
    ],
)
def test_a_plan_wants_the_disciplines_of_its_links(keys: str, links: str, names: tuple[str, ...]) -> None:
    Path("my.toml").write_text(link(keys).replace('"kernel"', f'"{links}"'))
    assert qdiscs.wanted(expand(dumbbell.load("my.toml"))) == names


BARE = {"delay_ns": 0, "buffer": "unlimited"}
LOSS = [{"model": "independent", "probability": 0.1}]


@pytest.mark.parametrize(
    ("changes", "kernels", "mininets"),
    [
        (BARE, {"tbf"}, {"htb"}),
        ({**BARE, "rate_bps": None}, set(), set()),
        ({**BARE, "rate_bps": None, "delay_ns": 1}, {"netem"}, {"netem"}),
        ({**BARE, "buffer": {"packets": 9}}, {"tbf"}, {"htb", "netem"}),
        ({**BARE, "delay_line_packets": 9}, {"tbf", "netem"}, {"htb"}),
        ({**BARE, "loss_before": LOSS}, {"tbf", "netem"}, {"htb", "netem"}),
        ({**BARE, "loss_after": LOSS}, {"tbf", "netem"}, {"htb", "netem"}),
    ],
)
def test_what_netem_does_takes_netem(changes: dict[str, Any], kernels: set[str], mininets: set[str]) -> None:
    for links, names in (("kernel", kernels), ("mininet", mininets)):
        emulate = known_run.PLAN["emulate"] | {"links": links}
        plan = known_run.plan(links=[known_run.link("bottleneck", "h1", "h2", **changes)], flows=[], emulate=emulate)
        assert set(qdiscs.wanted(plan)) == names


def test_a_kernel_without_a_discipline_is_refused() -> None:
    Path("my.toml").write_text(BASE + KERNELS)
    scenario = dumbbell.load("my.toml")
    (problem,) = refusals.check(scenario, kernel_with("fq", "tbf"))
    assert "the kernel 6.12 lacks netem" in problem.text()
    assert not list(refusals.check(scenario, kernel_with("netem", "tbf")))
    Path("my.toml").write_text(link('queue = "fq-codel"'))
    scenario = dumbbell.load("my.toml")
    (problem,) = refusals.check(scenario, kernel_with("netem", "tbf"))
    assert "the kernel 6.12 lacks fq_codel" in problem.text()
    assert "CONFIG_NET_SCH_FQ_CODEL=y" in problem.hint

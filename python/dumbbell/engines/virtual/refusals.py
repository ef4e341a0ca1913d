"""Keys of a scenario that a kernel in virtual time cannot obey, with what to use instead."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell import kernels
from dumbbell.engines.realm.bridges import first_vlan
from dumbbell.engines.realm.routing import refuse_routers
from dumbbell.errors import Problem, RunFailed
from dumbbell.hints import nearest
from dumbbell.kernels import Kernel
from dumbbell.kernels.names import BPF_SINCE
from dumbbell.plan import qdiscs
from dumbbell.plan.algorithms import linked, own
from dumbbell.plan.expand import expand
from dumbbell.plan.parts import kind
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.resolve.drawn.vlans import is_bridge, vlans
from dumbbell.scenario.resolve.labels import Labelled
from dumbbell.scenario.source import Finding, Key, dotted


def check(scenario: Scenario, kernel: Kernel) -> Iterator[Problem]:
    """All refusals."""
    for finding in _findings(scenario, kernel):
        yield scenario.source.problem(finding)


def _findings(scenario: Scenario, kernel: Kernel) -> Iterator[Finding]:
    seen = set()
    for at, found in resolve(scenario).labels.items():
        if isinstance(found, Labelled) and found.label not in seen:
            seen.add(found.label)
            yield from _algorithm(at, found, kernel)
    for at, name in own(scenario).items():
        if name not in kernel.algorithms:
            yield Finding(
                at, f"the kernel {kernel.name} has no such congestion control", _names(kernel), _closest(name, kernel)
            )
    if scenario.emulate.links != "ours" and kernel.machine is not None:
        what, hint = "dumbbell's own links carry the packets of a ready kernel", "take a kernel that dumbbell has built"
        yield Finding(("emulate", "links"), what, 'links = "ours"', hint)
    elif scenario.emulate.links != "ours":
        missing = [qdisc for qdisc in qdiscs.wanted(expand(scenario)) if qdisc not in kernel.qdiscs]
        if missing:
            settings = " and ".join(f"CONFIG_NET_SCH_{name.upper()}=y" for name in missing)
            hint = f"build one with {settings}, or leave emulate.links out"
            what = f"the kernel {kernel.name} lacks {', '.join(missing)}"
            yield Finding(("emulate", "links"), what, "", hint)
    yield from _bridges(scenario, kernel)
    if scenario.emulate.cpus is not None:
        hint = "leave it out: computing takes no time there"
        yield Finding(("emulate", "cpus"), "a kernel in virtual time has one CPU", "", hint)


def _bridges(scenario: Scenario, kernel: Kernel) -> Iterator[Finding]:
    """Bridges and VLANs of a kernel that has none."""
    drawing = scenario.topology.drawing.structure
    bridge = next((name for name in drawing.nodes if is_bridge(drawing, name)), None)
    if bridge is None:
        return
    at: Key = ("topology", "nodes", bridge, "bridge")
    if missing := kernel.lacks(["BRIDGE"]):
        hint = f"build one with {missing[0]}, or leave bridge out"
        yield Finding(at, f"the kernel {kernel.name} has no bridges ({missing[0]})", "", hint)
    elif missing := kernel.lacks(["BRIDGE_VLAN_FILTERING"]) if vlans(drawing) else []:
        hint = f"build one with CONFIG_VLAN_8021Q=y and {missing[0]}, or run it with --engine emulate"
        yield Finding(
            first_vlan(drawing), f"bridges of the kernel {kernel.name} know no VLANs ({missing[0]})", "", hint
        )


def check_linked(scenario: Scenario, kernel: Kernel) -> Iterator[Problem]:
    """The compiler's complaints about sources of the user's that become part of the kernel."""
    for at, found in resolve(scenario).labels.items():
        if isinstance(found, Labelled) and (file := found.algorithm.file) and not file.program.compiled:
            program = linked(found.label, file.program.content, found.file, found.algorithm.parameters)
            try:
                kernels.find(kernel.name, [program])
            except RunFailed as error:
                yield Problem.at(scenario.source.place(at), error.what, error.why, error.hint, dotted(at))


def _algorithm(at: Key, labelled: Labelled, kernel: Kernel) -> Iterator[Finding]:
    algorithm = labelled.algorithm
    if kernel.machine is not None:
        yield from _ready_algorithm(at, labelled, kernel)
    elif algorithm.bpf is not None and algorithm.bpf.program.compiled:
        hint = "name its source, my_cc.bpf.c, and it becomes part of the kernel; --engine emulate loads the object"
        yield Finding(at, f"{labelled.label}: a kernel in virtual time loads no BPF programs", "", hint)
    elif algorithm.bundled is not None and algorithm.bundled not in kernel.algorithms:
        hint = f"--engine emulate loads {algorithm.bundled} as a BPF program; --engine simulate has it, too"
        yield Finding(at, f"the kernel {kernel.name} has no {algorithm.bundled}", _names(kernel), hint)


def _ready_algorithm(at: Key, labelled: Labelled, kernel: Kernel) -> Iterator[Finding]:
    if labelled.algorithm.linked is not None:
        hint = f'cc = {{ bpf = "{labelled.algorithm.linked.name}" }} loads it as a BPF program'
        yield Finding(at, f"{labelled.label}: nothing can be linked to the kernel {kernel.name}, it is ready", "", hint)
    elif not kernel.loads_bpf:
        hint = (
            f"take Linux {'.'.join(map(str, BPF_SINCE))} or later with CONFIG_DEBUG_INFO_BTF, as distributions build it"
        )
        yield Finding(at, f"{labelled.label}: the kernel {kernel.name} loads no congestion controls in BPF", "", hint)


def check_ready(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """Refuses what a virtual machine does not have: files of this machine, and so its programs."""
    what, hint = "the virtual machine of a ready kernel has no programs", "run it on a kernel that dumbbell has built"
    entries = {one.id: one.entry for one in resolve(scenario).connections}
    for i in range(len(plan.programs)):
        yield scenario.source.problem(Finding(("programs", i, "command"), what, "", hint))
    for flow in plan.flows:
        if lines := kind(flow).command_lines(flow.workload):
            yield scenario.source.problem(Finding(("flows", entries[flow.id], next(iter(lines))), what, "", hint))
        if kind(flow).quic_stack(flow.workload):
            yield scenario.source.problem(Finding(("flows", entries[flow.id], "protocol"), what, "", hint))
    yield from refuse_routers(scenario, plan, what, hint)


def _names(kernel: Kernel) -> str:
    return f"one of {', '.join(kernel.algorithms)}"


def _closest(name: str, kernel: Kernel) -> str:
    return nearest(name, kernel.algorithms, "`dumbbell kernel build --help` says how a kernel gets another one")

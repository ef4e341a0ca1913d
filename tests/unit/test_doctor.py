"""The doctor's findings about machines good and bad."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dumbbell.cli import invoke
from dumbbell.doctor import Finding, Level, bpf, examine, installation, machine, network
from dumbbell.doctor.examine import trial_lab

OK, WARN, MISSING = Level.OK, Level.WARN, Level.MISSING


@pytest.mark.parametrize(
    ("finding", "level"),
    [
        (machine.kernel("6.18.44-fc"), OK),
        (machine.kernel("6.1.0-32-amd64"), WARN),
        (machine.kernel("7.0-rc1"), OK),
        (machine.cores(1), WARN),
        (machine.cores(2), OK),
        (machine.load(0.3, 2), OK),
        (machine.load(1.2, 2), WARN),
        (machine.clocksource("tsc"), OK),
        (machine.clocksource("hpet"), WARN),
        (bpf.kernel("6.4.0", Path("/")), OK),
        (bpf.kernel("6.1.0-32-amd64", Path("/")), WARN),
        (bpf.kernel("6.18.44", Path("/nowhere")), WARN),
        (bpf.jit("1"), OK),
        (bpf.jit("0"), WARN),
        (bpf.compiler("/usr/bin/clang"), OK),
    ],
)
def test_levels(finding: Finding, level: Level) -> None:
    assert finding.level is level
    assert bool(finding.fix) == (level is not OK), "what can be mended comes with its fix"


def test_root_learns_what_shuts_other_users_out(tmp_path: Path) -> None:
    home, environment = tmp_path / "root", tmp_path / "root" / "environment"
    environment.mkdir(parents=True)
    module = environment / "module.py"
    module.touch()
    for path, mode in ((tmp_path, 0o755), (home, 0o755), (environment, 0o755), (module, 0o644)):
        path.chmod(mode)
    assert installation.other_users([home, module], tmp_path).level is OK
    module.chmod(0o600)
    found = installation.other_users([home, module], tmp_path)
    assert f"{module} is closed to them (mode 600)" in found.detail
    assert found.fix == f"chmod a+r {module}"
    home.chmod(0o700)
    found = installation.other_users([module], tmp_path)
    assert f"{home} is closed to them (mode 700)" in found.detail
    assert "/usr/bin/python3 -m venv" in found.fix


def test_a_build_by_root_warns_of_what_shuts_other_users_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(installation.os, "geteuid", lambda: 0)
    monkeypatch.setattr(installation, "needed", lambda: [tmp_path / "python"])
    (tmp_path / "python").touch(mode=0o600)
    found = installation.other_users(installation.needed())
    installation.warn()
    said = f"warning: other users {found.detail}\nhint: {found.fix}\n"
    assert capsys.readouterr() == ("", said)
    monkeypatch.setattr(installation.os, "geteuid", lambda: 1000)
    installation.warn()
    assert capsys.readouterr() == ("", "")


def test_rights_are_told_by_capability_not_by_user() -> None:
    """Root in a container may lack them, and an ordinary user may have them."""
    assert "CAP_SYS_NICE" in machine.priority(1 << 23).detail
    assert "keep the machine idle" in machine.priority(0).detail


def test_bpf_is_allowed_where_the_loader_says_so() -> None:
    assert bpf.privileges({"ok": True, "missing": [], "failure": None}).level is OK
    refused = bpf.privileges({"ok": False, "missing": ["CAP_PERFMON"], "failure": None})
    assert refused.level is WARN
    assert "CAP_PERFMON" in refused.detail
    assert re.search(r"sudo \S*dumbbell cc load bbr3$", refused.fix)


def test_in_a_user_namespace_of_its_own_a_process_has_every_capability_and_none_counts() -> None:
    code = "from dumbbell.doctor import bpf, machine; print(bpf.privileges(), machine.priority())"
    unshared = ["unshare", "--user", "--map-root-user", sys.executable, "-c", code]
    done = subprocess.run(unshared, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "unshare" in done.stderr:
        pytest.skip("this user can make no user namespace")
    assert done.returncode == 0, done.stderr
    assert "Level.WARN" in done.stdout
    assert "in a user namespace" in done.stdout
    assert "no CAP_SYS_NICE" in done.stdout


def test_this_process_s_capabilities_are_the_kernel_s() -> None:
    with Path("/proc/self/status").open() as status:
        (effective,) = [line.split()[1] for line in status if line.startswith("CapEff:")]
    initial = Path("/proc/self/ns/user").stat().st_ino == 0xEFFFFFFD
    assert machine.effective_capabilities() == (int(effective, 16) if initial else 0)


def test_a_module_that_is_not_loaded_comes_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "has_algorithm", lambda name: name != "bbr")
    (tmp_path / "modules.dep").write_text("kernel/net/ipv4/tcp_bbr.ko.xz: \nkernel/net/ipv4/tcp_vegas.ko:\n")
    found = {finding.name: finding for finding in network.algorithms(tmp_path)}
    assert found["congestion control cubic"].level is OK
    assert found["congestion control bbr"].level is WARN
    assert found["congestion control bbr"].fix.startswith("sudo modprobe tcp_bbr")


def test_a_kernel_without_the_algorithm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "has_algorithm", lambda name: name == "reno")
    found = {finding.name: finding for finding in network.algorithms(tmp_path)}
    assert "built without" in found["congestion control cubic"].detail


def probe(code: str) -> list[Finding]:
    return list(trial_lab((sys.executable, "-c", code)))


def test_the_trial_lab_is_reported_line_by_line() -> None:
    facts = [
        {
            "name": "user namespace",
            "ok": False,
            "detail": "EPERM",
            "fix": "sudo sysctl -w user.max_user_namespaces=10000",
        },
        {"name": "packet socket", "ok": True, "detail": "works", "fix": ""},
    ]
    first, second = probe(f"print({json.dumps(facts)!r})")
    assert first == Finding("user namespace", MISSING, "EPERM", "sudo sysctl -w user.max_user_namespaces=10000")
    assert second.level is OK


def test_a_trial_lab_that_crashes_is_missing() -> None:
    (finding,) = probe("raise SystemExit('no such thing')")
    assert finding.level is MISSING
    assert "no such thing" in finding.detail


def test_the_kernel_is_asked_for_algorithms() -> None:
    """The doctor agrees with the kernel about what a socket of ours may use."""
    found = {finding.name: finding.level for finding in network.algorithms()}
    with socket.socket() as probe_socket:
        probe_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    assert found["congestion control reno"] is OK


def test_json_is_a_list_of_findings(capsys: pytest.CaptureFixture[str]) -> None:
    code = invoke(["doctor", "--json"])
    findings = json.loads(capsys.readouterr().out)
    assert {"name", "level", "detail", "fix"} == set(findings[0])
    assert code == (1 if any(finding["level"] == "missing" for finding in findings) else 0)


def test_every_defect_comes_with_a_fix() -> None:
    assert [finding.name for finding in examine() if finding.level is not OK and not finding.fix] == []

"""Words that measure: pings and traffic."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.errors import InputError
from dumbbell.labs import changes, pings, traffic
from dumbbell.labs.shell.words import Session, word
from dumbbell.units import Rate


@word("pingall", "[-6] [TIMEOUT]", "Ping each host from each other one, all at once; -6: by IPv6.")
def pingall(session: Session, words: list[str]) -> int:
    """Mininet's table."""
    return _pinged(session, session.network.hosts, words, full=False)


@word("pingallfull", "[-6] [TIMEOUT]", "Like pingall, with round-trip times.")
def pingallfull(session: Session, words: list[str]) -> int:
    """Mininet's list."""
    return _pinged(session, session.network.hosts, words, full=True)


@word("pingpair", "[-6] [TIMEOUT]", "Ping between the first two hosts.")
def pingpair(session: Session, words: list[str]) -> int:
    """Mininet's table."""
    return _pinged(session, session.network.hosts[:2], words, full=False)


@word("pingpairfull", "[-6] [TIMEOUT]", "Like pingpair, with round-trip times.")
def pingpairfull(session: Session, words: list[str]) -> int:
    """Mininet's list."""
    return _pinged(session, session.network.hosts[:2], words, full=True)


@word(
    "iperf",
    "[-6] [HOST HOST]",
    "Measure TCP's goodput between two hosts for 5 s; by default the first and the last; -6: by IPv6.",
)
def iperf(session: Session, words: list[str]) -> int:
    """Start a TCP flow as runs do, and print what the receiver got."""
    ip, words = version(words)
    from_, to = _pair(session, words)
    print(f"*** Iperf: testing TCP bandwidth between {from_} and {to}")
    return _show(traffic.run_flows(session.lab.path, [traffic.tcp(from_, to, ip=ip)]))


@word("iperfudp", "[-6] [RATE [HOST HOST]]", "Send UDP at this rate, by default 10 Mbit/s, and show what arrives.")
def iperfudp(session: Session, words: list[str]) -> int:
    """Start a UDP flow as runs do, and print what the receiver got."""
    ip, words = version(words)
    rate = _rate(words[0]) if words else 10_000_000
    from_, to = _pair(session, words[1:])
    print(f"*** Iperf: testing UDP bandwidth between {from_} and {to}")
    return _show(traffic.run_flows(session.lab.path, [traffic.udp(from_, to, rate, ip=ip)]))


@word(
    "traffic",
    "[HOST HOST [cc=NAME] [rate=RATE] [seconds=N] [ip=6]]",
    "Carry out the scenario's flows; or a flow between two hosts, of TCP, or with a rate of UDP.",
)
def run_flows(session: Session, words: list[str]) -> int:
    """A line for each flow at its end."""
    names, keys = changes.parsed(words)
    wrong = [key for key in keys if key not in ("cc", "rate", "seconds", "ip")]
    if wrong:
        raise InputError(f"traffic has no {wrong[0]}", "it has cc, rate, seconds and ip", "help traffic")
    if not names:
        flows = traffic.planned(session.lab.path)
        if not flows:
            raise InputError("the scenario has no flows", "it has no [[flows]]", "name two hosts: traffic h1 h2 cc=bbr")
        return _show(traffic.run_flows(session.lab.path, flows))
    from_, to = _pair(session, names)
    seconds = float(keys.get("seconds", traffic.SECONDS))
    ip = keys.get("ip", "4")
    if ip not in ("4", "6"):
        raise InputError(f"ip={ip}", "it is 4 or 6", "traffic h1 h2 ip=6")
    if "rate" in keys:
        flow = traffic.udp(from_, to, _rate(keys["rate"]), seconds, ip=int(ip))
    else:
        flow = traffic.tcp(from_, to, keys.get("cc"), seconds, ip=int(ip))
    return _show(traffic.run_flows(session.lab.path, [flow]))


@word("play", "", "Carry out the scenario's flows with their programs, and its events, each at its time.")
def played(session: Session, words: list[str]) -> int:
    """A line for each flow at its end."""
    return _show(session.lab.play())


def version(words: list[str]) -> tuple[int, list[str]]:
    """The version of IP that words ask for, 6 by `-6`, and the other words."""
    return (6 if "-6" in words else 4), [word for word in words if word not in ("-4", "-6")]


def _pinged(session: Session, hosts: Sequence[str], words: list[str], full: bool) -> int:
    ip, words = version(words)
    timeout_s = float(words[0]) if words else pings.TIMEOUT_S
    found = pings.ping_all(session.lab.path, hosts, timeout_s, ip)
    print(found.times() if full else found.matrix())
    return int(found.received < found.sent)


def _pair(session: Session, words: Sequence[str]) -> tuple[str, str]:
    hosts = session.network.hosts
    if not words and len(hosts) >= 2:
        return hosts[0], hosts[-1]
    if len(words) != 2:
        raise InputError("two hosts are needed", f"hosts: {', '.join(hosts[:20])}", "name two")
    for name in words:
        if name not in hosts:
            raise InputError(f"no host {name}", f"hosts: {', '.join(hosts[:20])}", "")
    return words[0], words[1]


def _rate(text: str) -> int:
    """A rate as scenarios write it, or iperf's `10M`."""
    text = text.strip()
    if text[-1:] in "kKMG" and text[:-1].replace(".", "", 1).isdigit():
        text = f"{text[:-1]} {text[-1].replace('K', 'k')}bit/s"
    return int(Rate.parse(changes.spaced(text)))


def _show(results: Sequence[traffic.FlowResult]) -> int:
    for one in results:
        said = one.error or f"{one.goodput_bps / 1e6:.4g} Mbit/s"
        print(f"*** Results: {one.id} {one.from_} -> {one.to}: {said}")
    return int(any(one.error for one in results))

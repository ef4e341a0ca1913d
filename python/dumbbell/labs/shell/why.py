"""The word `why`: where packets from one host to another end, why, and what mends it."""

from __future__ import annotations

from dumbbell.labs.shell.measure import version
from dumbbell.labs.shell.words import Session, word
from dumbbell.labs.why.explain import explain


@word(
    "why",
    "[-6] HOST HOST",
    "Say whether a host reaches another one, with packets of any size; if not, every reason that can be seen, and the "
    "command that mends it: links, interfaces, addresses, routes, policies, firewalls, settings, daemons, TTL, MTU.",
)
def why(session: Session, words: list[str]) -> int:
    """Prints a line for each reason, and below it what mends it."""
    ip, words = version(words)
    if len(words) != 2:
        print("name two hosts: why h1 h2")
        return 1
    from_, to = words
    found = explain(session.lab, from_, to, ip)
    print(found.text(from_, to), end="")
    return int(found.are_lost)

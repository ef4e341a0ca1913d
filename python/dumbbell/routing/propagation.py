"""How far BGP carries each prefix: a computation of what routers select and pass on, without time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dumbbell.frozen import dataclass
from dumbbell.routing.model import Prefix


@dataclass(frozen=True)
class Teaching:
    """One direction of a session: what a router tells its peer."""

    to: str
    internal: bool
    to_client: bool
    """The peer is a client of this router, a reflector."""
    from_client: bool
    """This router is a client of the peer."""
    preference: int
    """LOCAL_PREF that the peer gives to what it hears; only between ASes."""
    withholds: tuple[int, ...]
    """Routes of these preferences are kept from the peer."""


@dataclass(frozen=True)
class _Route:
    preference: int
    path: tuple[int, ...]
    """ASes on the way, the nearest first."""
    internal: bool
    """True if the route was heard inside the AS."""
    from_client: bool
    by: str
    """The router that told it; empty at its origin."""

    @property
    def rank(self) -> tuple[bool, int, int, bool, str]:
        """Smaller is better (RFC 4271, section 9.1.2)."""
        return (bool(self.by), -self.preference, len(self.path), self.internal, self.by)


_OWN = _Route(100, (), False, False, "")


def propagated(
    asns: Mapping[str, int], taught: Mapping[str, Sequence[Teaching]], origins: Mapping[str, frozenset[Prefix]]
) -> dict[str, set[Prefix]]:
    """The prefixes that each router learns in the end.

    Args:
        asns: router -> its AS.
        taught: router -> what it tells its peers.
        origins: router -> what it announces.

    Returns:
        router -> prefixes. Those of whose routes routers would talk without end (RFC 4264) are left out.
    """
    found: dict[str, set[Prefix]] = {name: set() for name in asns}
    for prefix in frozenset().union(*origins.values()):
        sources = frozenset(name for name, prefixes in origins.items() if prefix in prefixes)
        best = _settled(asns, taught, sources)
        for name in best or {}:
            if name not in sources:
                found[name].add(prefix)
    return found


def _settled(
    asns: Mapping[str, int], taught: Mapping[str, Sequence[Teaching]], sources: frozenset[str]
) -> dict[str, _Route] | None:
    best = dict.fromkeys(sources, _OWN)
    for _ in range(2 * len(asns) + 2):
        heard: dict[str, list[_Route]] = {name: [_OWN] for name in sources}
        for name, route in best.items():
            for teaching in taught[name]:
                if (told := _as_taught(asns, name, route, teaching)) is not None:
                    heard.setdefault(teaching.to, []).append(told)
        following = {name: min(routes, key=lambda route: route.rank) for name, routes in heard.items()}
        if following == best:
            return best
        best = following
    return None


def _as_taught(asns: Mapping[str, int], name: str, route: _Route, teaching: Teaching) -> _Route | None:
    """The route as the peer has it; `None` if it gets none."""
    if teaching.to == route.by or (route.by and route.preference in teaching.withholds):
        return None
    if not teaching.internal:
        path = (asns[name], *route.path)
        if asns[teaching.to] in path:
            return None
        return _Route(teaching.preference, path, False, False, name)
    if route.internal and not (route.from_client or teaching.to_client):
        return None
    return _Route(route.preference, route.path, True, teaching.from_client, name)

"""Everything in a scenario that names a node or a link: renaming and removing must follow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeGuard

from dumbbell.server.draft import Draft

LINKS: Final = ("topology", "links")
NEIGHBOURS: Final = ("customers", "peers", "providers", "clients")
"""Keys of routers that list names of others."""


def tables(draft: Draft, *key: str) -> list[Any]:
    """The items of a list; none if it is no list."""
    found = draft.get(key)
    return found if isinstance(found, list) else []


def link_names(draft: Draft) -> list[tuple[str, str] | None]:
    """The names of both directions of each written link, as `resolve` gives them; `None` of what is no link."""
    found: list[tuple[str, str] | None] = []
    count: dict[frozenset[str], int] = {}
    for link in tables(draft, *LINKS):
        between = link.get("between") if isinstance(link, dict) else None
        if not _is_pair(between):
            found.append(None)
        elif isinstance(name := link.get("name"), str):
            found.append((name, f"{name}-reverse"))
        else:
            a, b = between
            ends = frozenset((a, b))
            count[ends] = count.get(ends, 0) + 1
            number = "" if count[ends] == 1 else f"-{count[ends]}"
            found.append((f"{a}-{b}{number}", f"{b}-{a}{number}"))
    return found


def _is_pair(between: Any) -> TypeGuard[list[str]]:
    return isinstance(between, list) and len(between) == 2 and all(isinstance(one, str) for one in between)


def follow_links(draft: Draft, before: Sequence[tuple[str, str] | None], kept: Sequence[int | None]) -> None:
    """Let what names links follow those that are called otherwise now, and remove events of those that are gone.

    Args:
        draft: in which links have changed.
        before: their names before.
        kept: for each of those, its index now; `None`: it is gone.
    """
    after = link_names(draft)
    names: dict[str, str | None] = {}
    for old, index in zip(before, kept, strict=True):
        new = None if index is None else after[index]
        for i, called in enumerate(old or ()):
            names[called] = None if new is None else new[i]
    for i, event in reversed([*enumerate(tables(draft, "events"))]):
        named = event.get("link") if isinstance(event, dict) else None
        if not isinstance(named, str) or named not in names:
            continue
        if (to := names[named]) is None:
            remove_item(draft, ["events", i])
        elif to != named:
            draft.set(["events", i, "link"], to)
    _follow_names(draft, names)


def _follow_names(draft: Draft, names: Mapping[str, str | None]) -> None:
    """Let expectations and the space of a hunt follow what is called otherwise now, or is gone."""
    _follow_expectations(draft, names)
    link = draft.get(("hunt", "link"))
    if isinstance(link, str) and (to := names.get(link, link)) != link:
        draft.unset(["hunt", "link"]) if to is None else draft.set(["hunt", "link"], to)
    flows = draft.get(("hunt", "flows"))
    if isinstance(flows, list):
        kept = [to for one in flows if (to := names.get(one, one)) is not None]
        if kept != flows:
            draft.set(["hunt", "flows"], kept)


def _follow_expectations(draft: Draft, names: Mapping[str, str | None]) -> None:
    """Let expectations follow what is called otherwise now; those of what is gone are gone, too."""
    for i, expected in reversed([*enumerate(tables(draft, "expect"))]):
        named = expected.get("of") if isinstance(expected, dict) else None
        if not isinstance(named, str) or named not in names:
            continue
        if (to := names[named]) is None:
            remove_item(draft, ["expect", i])
        elif to != named:
            draft.set(["expect", i, "of"], to)


def flow_names(draft: Draft) -> list[str]:
    """The name of each flow, as `resolve` gives them: its own, or `f1`, `f2`, ... by position."""
    found = tables(draft, "flows")
    return [str((flow.get("id") if isinstance(flow, dict) else None) or f"f{i}") for i, flow in enumerate(found, 1)]


def remove_flow(draft: Draft, index: int) -> None:
    """Remove a flow. What names flows follows later ones, whose names may be by position."""
    before = flow_names(draft)
    remove_item(draft, ["flows", index])
    after = flow_names(draft)
    after.insert(index, "")
    _follow_names(draft, {old: new or None for old, new in zip(before, after, strict=True)})


def remove_item(draft: Draft, key: Sequence[str | int]) -> None:
    """Remove an item of a list. What varies by its index follows: later items are one less, its own keys vanish."""
    *of, index = key
    draft.unset(key)
    begin = ".".join(map(str, of))
    if not isinstance(index, int):
        return

    def moved(varied: str) -> str | None:
        if not varied.startswith(f"{begin}."):
            return varied
        number, dot, rest = varied.removeprefix(f"{begin}.").partition(".")
        if not number.isdigit() or int(number) < index:
            return varied
        return None if int(number) == index else f"{begin}.{int(number) - 1}{dot}{rest}"

    _follow_sweep(draft, moved)


def rename_in_sweep(draft: Draft, node: str, to: str) -> None:
    """Let varied keys follow a node's name."""
    names = {f"{table}.{node}": f"{table}.{to}" for table in ("topology.nodes", "hosts")}

    def moved(varied: str) -> str:
        for old, new in names.items():
            if varied == old or varied.startswith(f"{old}."):
                return new + varied.removeprefix(old)
        return varied

    _follow_sweep(draft, moved)
    for key, values in _sweep_values(draft):
        if str(key[-1]).rpartition(".")[2] in ("from", "to", "node", "router") and node in values:
            draft.set(key, [to if one == node else one for one in values])


def _sweep_tables(draft: Draft) -> Iterator[tuple[list[str | int], dict[str, object]]]:
    sweep = draft.get(("sweep",))
    if isinstance(sweep, dict):
        yield ["sweep"], sweep
        for part in ("zip", "cases"):
            for i, table in enumerate(tables(draft, "sweep", part)):
                if isinstance(table, dict):
                    yield ["sweep", part, i], table
    for i, expected in enumerate(tables(draft, "expect")):
        if isinstance(expected, dict) and isinstance(expected.get("where"), dict):
            yield ["expect", i, "where"], expected["where"]


def _sweep_values(draft: Draft) -> Iterator[tuple[list[str | int], list[Any]]]:
    for at, table in [*_sweep_tables(draft)]:
        for key, values in table.items():
            if isinstance(values, list) and key not in ("zip", "cases"):
                yield [*at, key], values


def _follow_sweep(draft: Draft, moved: Callable[[str], str | None]) -> None:
    for at, table in [*_sweep_tables(draft)]:
        renamed = {key: moved(key) for key in table}
        for key in [key for key, to in renamed.items() if to is None]:
            draft.unset([*at, key])
        # Keys that move to lower indices come in their order: none meets one that is still there.
        for key, to in sorted(renamed.items()):
            if to is not None and to != key:
                draft.rename([*at, key], to)


def rename_node(draft: Draft, node: str, to: str) -> None:
    """Let everything follow a node's new name but its own key, links' names and comments."""
    for i, link in enumerate(tables(draft, *LINKS)):
        if isinstance(link, dict) and _is_pair(link.get("between")) and node in link["between"]:
            draft.set([*LINKS, i, "between"], [to if one == node else one for one in link["between"]])
    for listed, keys in (("flows", ("from", "to")), ("events", ("router",)), ("programs", ("node",))):
        for i, table in enumerate(tables(draft, listed)):
            for key in keys:
                if isinstance(table, dict) and table.get(key) == node:
                    draft.set([listed, i, key], to)
    hosts = draft.get(("hosts",))
    if isinstance(hosts, dict) and node in hosts and to not in hosts:
        draft.rename(["hosts", node], to)
    for at, names in _neighbours(draft):
        if node in names:
            draft.set(at, [to if one == node else one for one in names])
    rename_in_sweep(draft, node, to)


def remove_node(draft: Draft, node: str) -> None:
    """Remove everything that is about a node but its own key and its links."""
    for listed, keys in (("flows", ("from", "to")), ("events", ("router",)), ("programs", ("node",))):
        for i, table in reversed([*enumerate(tables(draft, listed))]):
            if isinstance(table, dict) and any(table.get(key) == node for key in keys):
                remove_flow(draft, i) if listed == "flows" else remove_item(draft, [listed, i])
    draft.unset(["hosts", node])
    for at, names in _neighbours(draft):
        if node in names:
            rest = [one for one in names if one != node]
            if rest:
                draft.set(at, rest)
            else:
                draft.unset(at)


def _neighbours(draft: Draft) -> Iterator[tuple[list[str | int], list[Any]]]:
    nodes = draft.get(("topology", "nodes"))
    for name, table in [*nodes.items()] if isinstance(nodes, Mapping) else []:
        for key in NEIGHBOURS if isinstance(table, dict) else ():
            if isinstance(names := table.get(key), list):
                yield ["topology", "nodes", name, key], names

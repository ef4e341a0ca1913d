"""The parts of the page that are words: verdict, facts, checks, scenario, machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from html import escape
from typing import Any

from dumbbell.counts import listed
from dumbbell.engines.registry import capabilities
from dumbbell.plan import words as plan_words
from dumbbell.plan.parts import full_frame
from dumbbell.plan.types import Link, Plan
from dumbbell.plan.wire import document
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.facts import Facts, buffer_bytes, has_summary, rate_bps, summary_list, summary_value
from dumbbell.report.render.markup import Html, el, join
from dumbbell.report.render.tables import buffer_words
from dumbbell.report.spread import MOST_CURVES

_SHORT = 32
"""Letters that find room among the facts."""
_LONG = 100
"""Nodes, links or events of a plan that are all shown."""
_PLANNED = 10
"""Nodes, links, events or flows of a plan that are shown if there are too many."""
_MOST_COLOURED = 50_000
"""Characters of a scenario in colours."""
_MOST_IMPAIRED = 8
"""Links whose impairments are told."""
_PATHS = {"wire": ", packets one by one", "gso": ", packets in bursts (GSO)"}


def verdict(run: Run) -> Html:
    """The first line: whether to trust what follows, and why not."""
    if not has_summary(run):
        return _failed(run)
    word, checks = str(summary_value(run, "verdict")), summary_list(run, "checks")
    reasons = summary_list(run, "reasons")
    passed = f"all {words.count(len(checks), 'check')} passed" if checks else "no checks were made"
    said = passed if not reasons else f"{len(reasons)} of {words.count(len(checks), 'check')} did not pass"
    head = el("p", el("strong", word), " ", el("span", said), _attempts(run))
    listed = (
        el("li", el("b", reason["check"]), f": {reason['measured']}, allowed {reason['threshold']}. ", _why(reason))
        for reason in reasons
    )
    body = el("ul", *listed) if reasons else Html("")
    return el("div", head, body, class_=f"verdict {word}", role="status")


def _failed(run: Run) -> Html:
    status = str(run.manifest.get("status", "failed"))
    why = str(run.manifest.get("reason") or "no reason is recorded")
    head = el("p", el("strong", "invalid"), " ", el("span", f"this run {_did(status)}: {why}"))
    return el("div", head, class_="verdict invalid", role="status")


def _did(status: str) -> str:
    return "was interrupted" if status == "interrupted" else "failed"


def _why(reason: Mapping[str, Any]) -> Html:
    why = str(reason["why"]).rstrip(".")
    return el("span", f"{why[:1].upper()}{why[1:]}.")


def _attempts(run: Run) -> Html:
    attempts = run.summary.get("attempts") or {}
    failed, excluded = attempts.get("failed", 0), attempts.get("excluded", 0)
    said = [f"{n} {what}" for n, what in ((failed, "failed"), (excluded, "excluded as invalid")) if n]
    if not said:
        return Html("")
    return el("span", f"other attempts: {words.listed(said)}", class_="attempts")


def facts(run: Run, known: Facts) -> Html:
    """Constants of the run."""
    pairs: list[tuple[str, str, str]] = []
    link = None if known.has_several else known.bottleneck
    if known.has_several:
        pairs += _limited(run, known)
    elif link is not None:
        # "100 Mbit/s", or "11.7 Mbit/s on average: ..." of a rate that varies.
        _, _, how = plan_words.rate(link).partition(" on average")
        way = f"{link.from_} → {link.to}"
        pairs.append(("Bottleneck", words.rate(link.rate_bps), f"on average{how}; {way}" if how else way))
    if known.base_rtts_s:
        low, high = (words.seconds(rtt) for rtt in (known.base_rtts_s[0], known.base_rtts_s[-1]))
        pairs.append(("Base RTT", high if low == high else f"{low} to {high}", "without serialisation"))
    bdp = known.bdps_bytes[-1] if known.bdps_bytes else None
    if bdp:
        least, most = (words.size(size) for size in (known.bdps_bytes[0], bdp))
        frames = f"{'up to ' if least != most else ''}{bdp // full_frame(run.plan):,.0f} full frames"
        pairs.append(("BDP", most if least == most else f"{least} to {most}", frames))
    if link is not None:
        room = buffer_bytes(link)
        of_bdp = f"{room / bdp:.3g} BDP" if bdp and room is not None else ""
        pairs.append(("Buffer", buffer_words(link), of_bdp))
        queue, _, parameters = plan_words.queue(link).partition(" (")
        pairs.append(("Queue", queue, parameters.removesuffix(")")))
        loss = plan_words.losses(link)
        if (link.loss_before or link.loss_after) and len(loss) <= _SHORT:
            pairs.append(("Loss", loss, ""))
    interval = words.seconds(run.plan.record.sample_interval_ns / 1e9)
    pairs.append(("Duration", words.seconds(run.plan.duration_ns / 1e9), f"sampled every {interval}"))
    engine = f"seed {run.plan.seed}" + _PATHS.get(str(run.manifest.get("path")), "")
    pairs.append(("Engine", str(run.manifest.get("engine") or words.UNKNOWN), engine))
    day, time = _started(run)
    if day:
        pairs.append(("Started", day, time))
    listed = el("dl", (fact(*pair) for pair in pairs), class_="facts")
    impaired = known.crossed[:_MOST_IMPAIRED] if known.has_several else [link] if link is not None else []
    return join(listed, *(_besides(one) for one in impaired), _simulated(run))


def _limited(run: Run, known: Facts) -> list[tuple[str, str, str]]:
    """The limited links that data cross, and the one that was the bottleneck for the longest time."""
    low, high = (words.rate(of(map(rate_bps, known.crossed))) for of in (min, max))
    found = [("Limited links", str(len(known.crossed)), low if low == high else f"{low} to {high}")]
    shares = {link["name"]: link.get("bottleneck_share") for link in summary_list(run, "links")}
    first = known.crossed[0]
    if share := shares.get(first.name):
        said = f"for {words.share(share)} of the time of flows across it"
        found.append(("Bottleneck", first.name, said))
    return found


def _simulated(run: Run) -> Html:
    """A note that nothing here was measured, if the engine simulates; or that the clock was virtual."""
    kernel = (run.manifest.get("kernel") or {}).get("version") or words.UNKNOWN
    if capabilities(run.engine).real_time:
        return Html("")
    if not capabilities(run.engine).models_tcp:
        said = f"the TCP is that of Linux {kernel}. Computing took no time, so this machine had no part in the results."
        return el("p", el("strong", "This run was in virtual time:"), f" {said}", class_="beneath")
    said = "no kernel took part. Hosts and their TCP are a model of Linux's; the links are those of emulation."
    return el("p", el("strong", "This is a simulation:"), f" {said}", class_="beneath")


def _besides(link: Link) -> Html:
    """The packet events at a limited link that take more than a few words."""
    loss = plan_words.losses(link)
    said = ([f"loss: {loss}"] if len(loss) > _SHORT else []) + plan_words.impairments(link)
    return el("p", f"Besides, at {link.name}: {'; '.join(said)}.", class_="beneath") if said else Html("")


def fact(name: str, value: str, detail: str) -> Html:
    """One of the facts below a page's name."""
    return el("div", el("dt", name), el("dd", value, el("small", detail) if detail else Html("")))


def _started(run: Run) -> tuple[str, str]:
    try:
        at = datetime.fromisoformat(str(run.manifest.get("started_at")))
    except ValueError:
        return "", ""
    return f"{at.day} {at:%b %Y}", f"{at:%H:%M:%S %Z}".strip()


def checks(run: Run) -> Html:
    """Every check of the verdict; nothing if the run failed before it was judged."""
    if not has_summary(run):
        return Html("")
    rows = (
        el(
            "tr",
            el("td", el("span", check["verdict"], class_=f"status {check['verdict']}")),
            el("th", check["check"], scope="row"),
            el("td", check["measured"], class_="measured"),
            el("td", check["threshold"]),
            el("td", check["why"], class_="long"),
        )
        for check in summary_list(run, "checks")
    )
    names = ("Verdict", "Check", "Measured", "Allowed", "What a breach does to the results")
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in names)))
    table = el("table", head, el("tbody", *rows), aria_label="Checks")
    region = el("div", table, class_="wide", tabindex="0", role="region", aria_label="Checks")
    return join(el("h2", "Checks"), region)


def scenario(run: Run) -> Html:
    """The scenario with its overrides, and what it expands to."""
    path = run.directory / "scenario.toml"
    given = el("pre", highlighted(run.scenario_text)) if path.exists() else Html("")
    overrides = run.manifest.get("overrides") or []
    changed = join(el("p", "Set outside the file", class_="beneath"), el("pre", "\n".join(map(str, overrides))))
    return join(given, changed if overrides else Html(""), _plan(run.plan))


def _plan(plan: Plan) -> Html:
    """The expanded plan; of too many nodes, links, flows or events the first."""
    cut: dict[str, int] = {}
    for part, most in {"nodes": _LONG, "links": _LONG, "flows": MOST_CURVES, "events": _LONG}.items():
        if (n := len(getattr(plan, part))) > most:
            cut[part] = n
    shown = document(replace(plan, **{part: getattr(plan, part)[:_PLANNED] for part in cut}))
    title = "The plan: every default filled in"
    parts = listed([f"{n:,} {part}" for part, n in cut.items()])
    said = f". The first {_PLANNED} of {parts}; all are in plan.json" if cut else ""
    return _details(title + said, shown)


def highlighted(toml: str) -> Html:
    """TOML in colours, unless it is so long that they take seconds."""
    if len(toml) > _MOST_COLOURED:
        return Html(escape(toml))
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import TOMLLexer  # type: ignore[import-untyped]

    return Html(highlight(toml, TOMLLexer(), HtmlFormatter(nowrap=True)))


_MACHINE = (
    ("kernel", "Kernel"),
    ("distribution", "System"),
    ("cpu_model", "Processor"),
    ("cores", "Cores"),
    ("clocksource", "Clock source"),
    ("load_average", "Load average before"),
)
_COMPUTER = ("distribution", "cpu_model", "cores")
"""The facts that explain how long a simulation takes. Its results are the same on any machine."""


def machine(run: Run) -> Html:
    """The machine of the run; facts that the manifest lacks are left out."""
    known = run.manifest.get("machine") or {}
    simulated = not capabilities(run.engine).real_time
    shown = [(key, name) for key, name in _MACHINE if known.get(key) is not None]
    pairs = [(name, _plain(known[key])) for key, name in shown if key in _COMPUTER or not simulated]
    if known.get("memory_bytes"):
        pairs.append(("Memory", words.size(known["memory_bytes"])))
    if known.get("hypervisor"):
        pairs.append(("Virtual machine", "yes"))
    if simulated and (told := words.speed(run.manifest.get("cost"))):
        pairs.append((words.timing(run.engine).capitalize(), told))
    if "rootless" in (run.manifest.get("lab") or {}):
        pairs.append(("Privileges", "ordinary user" if run.manifest["lab"]["rootless"] else "root"))
    tool = (run.manifest.get("tool") or {}).get("dumbbell")
    if tool:
        pairs.append(("dumbbell", str(tool)))
    pairs.append(("Run", str(run.manifest.get("run_id") or run.directory.name)))
    listed = el("dl", (join(el("dt", name), el("dd", value)) for name, value in pairs), class_="pairs")
    recorded = {**run.manifest, **(run.manifest.get("lab") or {})}
    more = (
        ("sysctls", "Sysctls of the hosts"),
        ("offloads", "Segmentation offloads"),
        ("scheduling", "Scheduling of the emulator"),
        ("cpu", "Processor time during the run"),
        ("cost", "Cost of simulating" if simulated else "Cost of emulating and measuring"),
    )
    return join(listed, (_details(title, recorded[key]) for key, title in more if recorded.get(key)))


def command(run: Run) -> Html:
    """The command that repeats the run."""
    if not (run.directory / "scenario.toml").exists():
        return Html("")
    button = el("button", "copy", type="button", data_copy="command", hidden="")
    return join(el("h2", "Repeat this run"), el("div", el("pre", run.repeat, id="command"), button, class_="command"))


def missing(sentences: tuple[str, ...]) -> Html:
    """The list of what could not be drawn."""
    if not sentences:
        return Html("")
    return el("ul", (el("li", sentence) for sentence in sentences), class_="missing")


def _details(title: str, value: Any) -> Html:
    return el("details", el("summary", title), el("pre", _lines(value)))


def _lines(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    return f"{value:.2f}" if isinstance(value, float) else str(value)

"""Work of the server beside documents: runs, studies, comparisons, fits, labs, their packets and terminals."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI

from dumbbell.server import comparison, fits, lab_parts, labs, live, packets, results, runs, studies, terminals, whatif
from dumbbell.server.children import Children


def include(app: FastAPI, root: Path) -> None:
    """Add the routes to the application of the workspace `root`, and the topics to `app.state.topics`."""
    children, opened = Children(root), terminals.Terminals(root)
    kept, lists = labs.Labs(root, children), packets.PacketLists()
    for router in (
        results.router(root),
        comparison.router(root),
        runs.router(root, children),
        studies.router(root, children),
        labs.router(root, kept, opened),
        lab_parts.router(),
        terminals.router(opened),
        packets.router(lists),
        whatif.router(root),
        fits.router(root),
    ):
        app.include_router(router)
    app.state.topics |= {
        "run": live.Live(root, children),
        "study": studies.Topic(root, children),
        "lab": labs.Topic(kept, opened),
        "packets": lists,
    }
    app.state.labs, app.state.terminals, app.state.packets = kept, opened, lists


def end(app: FastAPI) -> None:
    """Ends terminals, lists of packets and labs of the server; runs and studies go on."""
    app.state.packets.close_all()
    app.state.terminals.close_all()
    app.state.labs.end_all()

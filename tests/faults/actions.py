"""Commands of the harness that are none of dumbbell's."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from serving import serving

NEW = "# edited in the page\n"


def edit() -> None:
    """Edit `small.toml` of this folder in a page, until it is saved or the page says why not: prints which."""
    with serving(Path.cwd()) as served:
        served.ask("GET", "/api/about")  # The application may take longer than the page would wait for it.
        with served.page() as page:
            state = page.open("small.toml")
            answer = page.command("small.toml", {"do": "replace_text", "text": state["text"].removesuffix(NEW) + NEW})
            assert answer["type"] == "ack"
            while not (state["saved"] and state["text"].endswith(NEW)) and state["save_problem"] is None:
                page.hear()
                state = page.states["document/small.toml"]
            problem = state["save_problem"]
            print("saved" if problem is None else f"{problem['what']}\n{problem['why']}\nhint: {problem['hint']}")

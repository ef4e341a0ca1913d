"""Put the report of a reproduction into the documentation: `docs/results/studies/STUDY.md`, its plots, and CSV files
with its numbers, findings and parts.

`python docs/draw/studies.py STUDY [FOLDER]`, after `dumbbell reproduce STUDY`; FOLDER is where that was written,
by default `reproductions/STUDY`. `python docs/draw/studies.py STUDY --texts` runs nothing: it writes again what follows
from `study.toml` and from the outcomes in the CSV file.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from appendix import again, moved, outcomes_in

from dumbbell.published.registry import reproduction

DOCS = Path(__file__).parents[1]
PAGES = DOCS / "results" / "studies"


def main(study: str, folder: str | None = None) -> None:
    """Copy the text, the plots that it shows, as SVG, and what stands in tables beside it."""
    if folder == "--texts":
        page, findings = PAGES / f"{study}.md", PAGES / f"{study}-findings.csv"
        outcomes = outcomes_in(findings.read_text(encoding="utf-8"))
        texts = again(page.read_text(encoding="utf-8"), reproduction(study), outcomes)
        for file, text in zip((page, findings), texts, strict=True):
            file.write_text(text, encoding="utf-8")
        return
    made = Path(folder or f"reproductions/{study}")
    images = DOCS / "images" / "studies" / study
    images.mkdir(parents=True, exist_ok=True)
    for old in images.glob("*.svg"):
        old.unlink()
    text = (made / "report.md").read_text(encoding="utf-8")
    for name in re.findall(r"\(plots/(.+?)\.svg\)", text):
        (images / f"{name}.svg").write_bytes((made / "plots" / f"{name}.svg").read_bytes())
    text = text.replace("(plots/", f"(../../images/studies/{study}/").replace("numbers.csv", f"{study}.csv")
    page, tables = moved(text, reproduction(study))
    if (made / "numbers.csv").exists():
        tables[f"{study}.csv"] = (made / "numbers.csv").read_text(encoding="utf-8")
    for name, found in (tables | {f"{study}.md": page}).items():
        (PAGES / name).write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

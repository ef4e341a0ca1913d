"""Put the report of a reproduction into the documentation: `docs/results/studies/STUDY.md`, its plots, and CSV files
with its numbers, findings and parts.

`python docs/draw/studies.py STUDY [FOLDER]`, after `dumbbell reproduce STUDY`; FOLDER is where that was written,
by default `reproductions/STUDY`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from appendix import moved

DOCS = Path(__file__).parents[1]


def main(study: str, folder: str | None = None) -> None:
    """Copy the text, the plots that it shows, as SVG, and what stands in tables beside it."""
    made = Path(folder or f"reproductions/{study}")
    images = DOCS / "images" / "studies" / study
    images.mkdir(parents=True, exist_ok=True)
    for old in images.glob("*.svg"):
        old.unlink()
    text = (made / "report.md").read_text(encoding="utf-8")
    for name in re.findall(r"\(plots/(.+?)\.svg\)", text):
        (images / f"{name}.svg").write_bytes((made / "plots" / f"{name}.svg").read_bytes())
    text = text.replace("(plots/", f"(../../images/studies/{study}/").replace("numbers.csv", f"{study}.csv")
    page, tables = moved(text, study)
    if (made / "numbers.csv").exists():
        tables[f"{study}.csv"] = (made / "numbers.csv").read_text(encoding="utf-8")
    for name, found in (tables | {f"{study}.md": page}).items():
        (DOCS / "results" / "studies" / name).write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""`python -m tools.generate`: write each generated file that is not current."""

from __future__ import annotations

from tools.generate import reference
from tools.generate.targets import ROOT, STUB, TARGETS, declarations, generated, is_current


def main() -> None:
    """Write them, and name those that changed."""
    found = declarations()
    for target in (STUB, *TARGETS):
        if not is_current(target, found):
            (ROOT / target.path).write_text(generated(target, found), encoding="utf-8")
            print(target.path)
    for page in reference.SECTIONS:
        path, text = reference.DOCS / page, reference.page(page)
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path)


main()

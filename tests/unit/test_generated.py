"""The checked-in files that follow from declarations in Rust are those that `make generate` writes."""

import pytest

from tools.generate.targets import TARGETS, Target, declarations, is_current


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.path)
def test_a_generated_file_is_current(target: Target) -> None:
    assert is_current(target, declarations()), (
        f"{target.path} is not what {target.source} declares: run `make generate` and commit the change"
    )

"""The descriptions of parameters."""

from __future__ import annotations

from dumbbell.cc.parameters import Parameter, Parameters, describe, misfits

BETA = Parameter("beta_keep", 32, False, 180, "1/256: what a loss leaves. 0.7 in all.")


def test_a_comment_s_full_stop_does_not_end_the_sentence_twice() -> None:
    assert describe(BETA) == "beta_keep (u32, 180 by default): 1/256: what a loss leaves. 0.7 in all"
    (wrong,) = misfits("bbr3", Parameters((BETA,)), {"beta_keep": -1})
    assert wrong.hint == "1/256: what a loss leaves. 0.7 in all; 180 by default"


def test_what_begins_with_db_is_not_the_user_s() -> None:
    for known in (Parameters((BETA,)), Parameters((), complete=False)):
        (wrong,) = misfits("mine", known, {"db_emit_acks": True})
        assert wrong.wrong == "is dumbbell's own"

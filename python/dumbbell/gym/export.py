"""A policy as a congestion control in C: integers only, so that a kernel can run it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from dumbbell import outputs
from dumbbell.errors import unwritable
from dumbbell.gym.policy import FEATURES, MOST, ONE, WAITING, Policy
from dumbbell.gym.reward import Array
from dumbbell.gym.terms import parse_interval

_INDENT: Final = "\t"


def write(policy: Policy, name: str, path: Path) -> None:
    """Write the source of the congestion control `name`. Raises `RunFailed` if that fails."""
    try:
        outputs.write(path, program(policy, name))
    except OSError as error:
        raise unwritable(path, error) from None


def program(policy: Policy, name: str) -> str:
    """The source of the congestion control `name`, which decides as `policy` does, rounded down to 1/1024."""
    us, rtts = parse_interval(policy.interval)
    interval = f"{us}" if rtts is None else f"(__u64)(tp->srtt_us >> 3) * {round(rtts * ONE)} / {ONE}"
    share = "state->pacing" if policy.paces else "2 * ONE"
    parts = {
        "INTERVAL": interval,
        "DECIDES": policy.interval,
        "LAYERS": "\n".join(_layers(policy)),
        "MOST": f"{round(MOST * ONE)}",
        "WAITING": f"{WAITING}",
        "SHARE": share,
        "PACING_STATE": "\t__u32 pacing;     /* windows per smoothed RTT, 1/1024 */\n" if policy.paces else "",
        "PACING_BEGIN": "\tstate->pacing = 2 * ONE;\n" if policy.paces else "",
        "PACING_NEXT": "\tstate->pacing = @NAME@_scaled(ONE, action_1);\n" if policy.paces else "",
        "PACING_ASK": "\trequest_pacing(sk);\n" if policy.paces else "",
        # Last: others have it, too.
        "NAME": name,
    }
    text = files("dumbbell.gym").joinpath("policy.bpf.c").read_text(encoding="utf-8")
    for key, value in parts.items():
        text = text.replace(f"@{key}@", value)
    return text


def _layers(policy: Policy) -> list[str]:
    given = list(FEATURES)
    lines = []
    for depth, (weights, biases) in enumerate(policy.layers):
        is_last = depth == len(policy.layers) - 1
        units = [f"action_{i}" if is_last else f"unit_{depth}_{i}" for i in range(len(biases))]
        for unit, row, bias in zip(units, weights, biases, strict=True):
            lines.append(f"{_INDENT}__s32 {unit} = @NAME@_limit({_sum(row, bias, given)});")
        given = units
    return lines


def _sum(row: Array, bias: float, given: list[str]) -> str:
    terms = [f"{round(float(bias) * ONE) * ONE}LL"]
    terms += [
        f"(__s64){name} * {round(float(weight) * ONE)}" for weight, name in zip(row, given, strict=True) if weight
    ]
    return " + ".join(terms)

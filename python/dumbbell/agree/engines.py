"""The two engines that are compared, as `--engines A,B` names them."""

from __future__ import annotations

from dumbbell.engines import registry
from dumbbell.engines.protocol import Engine
from dumbbell.errors import InputError
from dumbbell.pipeline.planned import kernel_override


def pair(named: str, kernel: str | None) -> tuple[dict[str, Engine], dict[str, list[str]]]:
    """The engines of `--engines` by their words there, and what scenarios are told anew for each: the kernel of those
    that run any. Beside one in virtual time, the simulator's hosts are like its own: they take no time.

    Raises `InputError` unless there are two, one of which takes `kernel`.
    """
    found: dict[str, Engine] = {}
    settings: dict[str, list[str]] = {}
    for word in named.split(","):
        name, at, own = word.partition("@")
        found[word] = registry.engine(name)
        any_kernel = found[word].capabilities.any_kernel
        if at and not (own and any_kernel):
            why = f"{name} runs no kernel of its own" if own else "the kernel's name is missing"
            raise InputError(f"--engines {named}: {word}", why, "--engines virtual@6.1,virtual@6.12")
        if any_kernel and (chosen := own or kernel):
            settings[word] = kernel_override(chosen)
    if len(found) != 2 or named.count(",") != 1:
        raise InputError(f"--engines {named}", "two different engines can be compared", "--engines virtual,simulate")
    if kernel is not None and not any(one.capabilities.any_kernel for one in found.values()):
        why = f"neither of {' and '.join(found)} runs any kernel"
        raise InputError(f"--kernel {kernel}", why, "--engines virtual,simulate")
    if any(one.capabilities.any_kernel for one in found.values()):
        simulators = (word for word, one in found.items() if one.capabilities.models_tcp)
        settings |= {word: ["simulate.hosts=virtual"] for word in simulators}
    return found, settings

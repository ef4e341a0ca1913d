"""The names of congestion controls as pictures and tables print them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tomllib import TOMLDecodeError, loads
from typing import Any, Final

from dumbbell.cc.bundled import BUNDLED, label_of_file

_TITLES: Final = {
    "bbr": "BBRv1",
    "bbr2": "BBRv2",
    "bbr3": "BBRv3",
    "bbr3-draft": "BBRv3 draft",
    "bic": "BIC",
    "cdg": "CDG",
    "cubic": "CUBIC",
    "dctcp": "DCTCP",
    "highspeed": "HighSpeed",
    "htcp": "H-TCP",
    "hybla": "Hybla",
    "illinois": "Illinois",
    "lp": "TCP-LP",
    "nv": "NV",
    "reno": "Reno",
    "scalable": "Scalable",
    "udp": "UDP",
    "vegas": "Vegas",
    "veno": "Veno",
    "westwood": "Westwood+",
    "yeah": "YeAH",
}
_KEYS: Final = ("bpf", "kernel", "name")


def label(value: Any) -> str:
    """The label that records have for the value of a key `cc`: `cubic`, or `aimd` of `{ kernel = "aimd.bpf.c" }`.

    Takes the value, or the TOML text that a study's table holds; other texts are unchanged.
    """
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = loads(f"value = {value}")["value"]
        except TOMLDecodeError:
            return str(value)
    if not isinstance(value, Mapping):
        return _label(str(value))
    named = next((str(value[key]) for key in _KEYS if isinstance(value.get(key), str)), None)
    if named is None:
        return str(value)
    base = f"{named} (kernel)" if "kernel" in value and named in BUNDLED else _label(named)
    set_to = value.get("parameters")
    parameters = sorted(set_to.items()) if isinstance(set_to, Mapping) else []
    told = ", ".join(f"{key}={str(one).lower() if isinstance(one, bool) else one}" for key, one in parameters)
    return f"{base} ({told})" if told else base


def title(label: str) -> str:
    """`BBRv3` of the label `bbr3`; of a program of the user's, its label. What a label has in brackets stays."""
    base, bracket, rest = label.partition(" (")
    return _TITLES.get(base, base) + bracket + rest


def _label(name: str) -> str:
    """The label of a program's file, or the name itself."""
    for suffix in (".bpf.c", ".bpf.o", ".c"):
        if name.endswith(suffix):
            return label_of_file(Path(name).name.removesuffix(suffix))
    return name

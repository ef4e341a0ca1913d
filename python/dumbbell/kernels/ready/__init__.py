"""Ready kernels, built by somebody else for a real machine: they run in a virtual one whose clock counts instructions.

`dumbbell kernel add` puts a kernel and its modules into the store (`image`). It boots once (`boot`), as far as the
crate `ready-init`, and each run goes on from the snapshot of that moment.
"""

from dumbbell.kernels.ready.boot import INIT, booted
from dumbbell.kernels.ready.debian import is_name as is_debian
from dumbbell.kernels.ready.image import Image, add, forget, images, named
from dumbbell.kernels.ready.machine import Machine, qemu_version

__all__ = [
    "INIT",
    "Image",
    "Machine",
    "add",
    "booted",
    "forget",
    "images",
    "is_debian",
    "named",
    "qemu_version",
]

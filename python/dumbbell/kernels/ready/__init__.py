"""Ready kernels, built by somebody else for a real machine: they run in a virtual one whose clock counts instructions.

`dumbbell kernel add` puts a kernel and its modules into the store (`image`). It boots once (`boot`), as far as the
crate `ready-init`, and each run goes on from the snapshot of that moment. Where KVM boots one (`trial`), it runs in
real time, too.
"""

from dumbbell.kernels.ready.boot import INIT, booted
from dumbbell.kernels.ready.debian import is_name as is_debian
from dumbbell.kernels.ready.image import Image, add, forget, images, named
from dumbbell.kernels.ready.machine import Machine, qemu_version
from dumbbell.kernels.ready.trial import BOOTS_WITHIN_S, closed, why_not_in_real_time

__all__ = [
    "BOOTS_WITHIN_S",
    "INIT",
    "Image",
    "Machine",
    "add",
    "booted",
    "closed",
    "forget",
    "images",
    "is_debian",
    "named",
    "qemu_version",
    "why_not_in_real_time",
]

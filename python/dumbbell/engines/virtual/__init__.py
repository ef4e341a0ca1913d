"""The kernel's TCP in virtual time: a Linux compiled to run as an ordinary process, whose clock jumps to what is next.

`engine` checks a plan and starts `guard`, a process that confines the kernel, watches over it and ends it. The kernel's
first process is the crate `guest-init`, which becomes the lab as the helper of the engine `emulate` does.
"""

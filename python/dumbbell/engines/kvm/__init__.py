"""A ready kernel in real time: in a virtual machine whose instructions the host's CPUs execute, by KVM.

What happens inside is an emulated run. Its evidence is recorded there, by the machine's clock, which is the host's.
"""

"""The kernel's Reno and CUBIC against ours in BPF, on the same path: do the windows move alike?"""

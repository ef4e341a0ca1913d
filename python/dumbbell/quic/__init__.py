"""The program of QUIC flows, `dumbbell-quic`: where it is, and builds of it with a stack from a tree of the user's."""

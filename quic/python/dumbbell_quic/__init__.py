"""The sources of the program of QUIC flows, `dumbbell-quic`, from which `dumbbell quic build` builds it again."""

"""Many runs on a cluster of machines, by Ray. Ray comes with the extra `dumbbell[cluster]`.

The command that works on a study, the driver, plans it and keeps its directory; nodes only carry out tasks: an emulated
run, or the simulated runs of a shard. A task works in a directory of its node's own disk; what it has made comes to the
driver as an archive, by way of Ray or of a store that all nodes see. No two machines ever write to one study.
"""

from dumbbell.execute.cluster.executor import Ray

__all__ = ["Ray"]

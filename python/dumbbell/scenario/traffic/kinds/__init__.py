"""The kinds of flow, one a module: the keys that users write, the workload that an engine gets, and its words."""

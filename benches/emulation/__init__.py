"""The emulation engine: fidelity, throughput, many links, cost."""

"""BBR against BBRv2: aulbach-2020, its study files, numbers and findings."""

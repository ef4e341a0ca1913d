"""Background UDP traffic and mixes of CUBIC and BBR: rincao-2021, its study files, numbers and findings."""

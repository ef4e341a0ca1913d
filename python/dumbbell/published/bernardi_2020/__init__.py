"""One flow through a middle host: bernardi-2020, its study files, numbers and findings."""

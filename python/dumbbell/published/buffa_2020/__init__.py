"""Loss, delay and bandwidth: buffa-2020, its study files, numbers and findings."""

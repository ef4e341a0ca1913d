"""The links of a scenario: rates, delays, losses and queues, and their changes during the run."""

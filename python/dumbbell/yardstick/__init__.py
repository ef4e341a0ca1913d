"""The yardstick of congestion controls: networks, what is measured in each, and scores."""

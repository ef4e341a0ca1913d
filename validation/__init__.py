"""Validates engines against one another: links, TCP, kernels, Google's BBR. Users import nothing from here."""

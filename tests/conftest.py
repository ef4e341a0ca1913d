"""Lets tests in all folders import the helpers in this one, and says where the cases of property tests come from."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("fuzz", max_examples=1000)
settings.load_profile("fixed")

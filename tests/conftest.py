"""Lets tests in all folders import the helpers in this one."""

"""Reno and CUBIC from first principles: slides-2017, its study files, numbers and findings."""

"""A scenario from file to report: plan it, carry it out, compute its figures, judge it, and write its report."""

"""Common foundations: processes, progress, limits, errors, units."""

"""What every part of the program stands on: processes, progress, limits, errors, units."""

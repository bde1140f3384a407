"""What every part of the program uses: processes, progress, limits, errors, units."""

"""What could be done to lower the peak memory of a module."""

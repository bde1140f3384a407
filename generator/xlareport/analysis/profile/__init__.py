"""Measured time: what a profiler saw, per instruction, run and module."""

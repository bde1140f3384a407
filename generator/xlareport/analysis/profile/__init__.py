"""Measured time: profiles, by instruction, run and module."""

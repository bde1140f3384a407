"""Runs a program so that XLA writes the desired dump."""

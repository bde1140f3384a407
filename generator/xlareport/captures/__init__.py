"""Runs a program so that XLA dumps what is wanted."""

"""Histories of instructions, and timelines of computations."""

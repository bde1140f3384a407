"""Pairings of a finished search: expansions, copies, and what every other difference is."""

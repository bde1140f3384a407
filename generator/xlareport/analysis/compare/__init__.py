"""Compares two compilations: pairs of modules, differences, and where they diverge."""

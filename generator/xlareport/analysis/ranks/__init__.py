"""Ranks of one program: modules of several processes, combined, and their differences."""

"""Ranks of one program: what several processes compiled, put together, and where they differ."""

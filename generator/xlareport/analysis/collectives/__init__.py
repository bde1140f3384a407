"""Collectives: data and devices of each, its cause, and what runs at the same time."""

"""Collectives: what each sends, to whom, why it is there, and what runs meanwhile."""

"""Findings on a module, each with evidence: one rule per file."""

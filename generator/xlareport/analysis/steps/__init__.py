"""The difference between two snapshots: changes, figures, sentences."""

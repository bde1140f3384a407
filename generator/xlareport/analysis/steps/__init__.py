"""What the compiler did between two snapshots: changes, figures, sentences."""

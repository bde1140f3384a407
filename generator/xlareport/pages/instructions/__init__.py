"""The table of all instructions of a final snapshot."""

"""The static execution skeleton: the optimized module in the order in which it runs."""

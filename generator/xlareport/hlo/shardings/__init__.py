"""Shardings and groups of devices in each written form, as values: XLA's, and Shardy's in MLIR."""

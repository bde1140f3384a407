"""The runs of the snapshots of a module on the CPU, beside its steps."""

"""The runs of a module's snapshots on the CPU, on the tab of its passes."""

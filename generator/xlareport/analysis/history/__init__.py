"""How instructions continue through the snapshots of a module: histories, traces, timelines."""

"""How instructions go on through the snapshots of a module: histories, traces, timelines."""

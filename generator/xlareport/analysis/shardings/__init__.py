"""Shardings of a module: its mesh, what each device holds, where values change their sharding."""

"""Runs snapshots of a dump on the CPU, in a child process with jaxlib: `xlareport[replay]`."""

"""The code of the child process: jaxlib and numpy, and nothing of the rest of the package."""

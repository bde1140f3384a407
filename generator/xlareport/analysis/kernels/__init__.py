"""The kernels of a GPU module: what each needs, how many of its blocks run at once, and why."""

"""The page on GPU kernels: what each needs, its occupancy, and why."""

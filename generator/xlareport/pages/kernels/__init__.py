"""The page on GPU kernels: resources, occupancy, and the reasons."""

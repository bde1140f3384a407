"""The kernels of a GPU module: resources, resident blocks, and the limiting factors."""

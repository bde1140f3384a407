"""The page on kernels, thunks and machine code."""

"""The work on one module in one process: analysis, pages, pictures, and what is kept of it."""

"""The work on one module in one process: analysis, pages, pictures, stored results."""

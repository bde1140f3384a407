"""The pages of a comparison: records, pages, budgets, side-by-side differences."""

"""The glossary page and the words that scripts explain."""

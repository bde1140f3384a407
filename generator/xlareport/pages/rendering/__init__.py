"""Records to Markdown and HTML: templates, escaping, headings, prose."""

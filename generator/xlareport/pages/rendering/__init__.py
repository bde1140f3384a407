"""Records into Markdown and HTML: templates, what makes their output safe, headings, prose."""

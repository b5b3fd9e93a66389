"""The one-file page: a document of everything it shows, and the HTML that shows it."""

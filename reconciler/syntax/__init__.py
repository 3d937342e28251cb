"""Text with positions: files, events, documents, and what is wrong with them."""

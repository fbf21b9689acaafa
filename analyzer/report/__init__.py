"""The postmortem: what the page says, its charts, and the page as HTML, PDF and ticket text."""

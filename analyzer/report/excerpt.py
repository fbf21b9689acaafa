"""A text from a run as the page shows it: nothing that acts, and not all of it."""

from __future__ import annotations

HEAD, TAIL = 480, 320  # letters kept of a long text
REPLACEMENT = "\ufffd"  # for what is no letter: control characters, marks of direction


def excerpt(text: str, left_out: str) -> str:
    """The text without control characters, a long one without its middle. `left_out` says in
    words how much that is: "… {n} letters …".
    """
    clean = "".join(c if c.isprintable() or c in "\n\t" else REPLACEMENT for c in text)
    over = len(clean) - HEAD - TAIL
    if over <= len(left_out):
        return clean
    return f"{clean[:HEAD]}\n{left_out.format(n=f'{over:,}')}\n{clean[-TAIL:]}"

"""Bytes of any log to Arrow record batches: one reader a format, and discover()."""

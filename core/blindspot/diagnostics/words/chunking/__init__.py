"""Chunking: phrases found by a linear-chain CRF that sees words only as vectors (Schnabel 2015, section 5)."""

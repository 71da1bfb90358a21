"""What ``python -m core bench`` measures."""

"""Size: how few dimensions and bits a model needs before its score drops."""

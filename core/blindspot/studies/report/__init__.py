"""Reports: findings and comparison of some models in one file to share."""

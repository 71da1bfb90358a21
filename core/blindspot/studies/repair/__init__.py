"""Repair: a linear map on a model's vectors, trained on what it orders wrongly, with its gain and its damage."""

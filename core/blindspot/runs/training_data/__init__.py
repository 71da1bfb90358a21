"""Training data from what a model got wrong: triplets and scored pairs, without texts that others evaluate on."""

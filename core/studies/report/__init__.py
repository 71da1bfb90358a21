"""Reports: what was found about some models, in one file to hand on."""

"""How few dimensions and bits a model needs."""

from blindspot.studies.size.page import show

show()

"""What a linear map of a model's vectors mends, and what it breaks."""

from blindspot.studies.repair.page import show

show()

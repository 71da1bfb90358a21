"""Evidence: Do scores of encoders without a task foretell how well they do on one?"""

from core.studies.evidence.page import show

show()

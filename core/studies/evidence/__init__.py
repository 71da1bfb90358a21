"""Meta-evaluation: do scores of encoders without a task foretell how well they do on one? (Wang 2022, 4.5, 5, 6)"""

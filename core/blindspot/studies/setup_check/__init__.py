"""Set-up check: is the model that answers the model that was meant, and is it set up as its authors meant?"""

"""Objects of classes written in Python as the variables that stand for their attributes."""

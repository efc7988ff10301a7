"""A function for a batch of cotangents or directions, with one axis more than the function."""

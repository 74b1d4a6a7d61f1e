"""What a course needs: predictions, exercises and their checks."""

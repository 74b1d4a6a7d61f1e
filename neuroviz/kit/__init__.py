"""What all panels are made of: theme, marks, words, the panel itself and its page."""

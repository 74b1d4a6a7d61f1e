"""A class on the local network: the built pages for the students, and their guesses,
at once, for the teacher."""

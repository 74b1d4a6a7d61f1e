"""What a course needs: predictions, exercises and their checks."""

from neuroviz.kit.asking import show_answers as show_answers
from neuroviz.lessons.classroom.member import join as join
from neuroviz.lessons.classroom.member import leave as leave
from neuroviz.lessons.teaching import forget_guesses as forget_guesses

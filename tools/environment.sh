# Prepare .venv with the Python that `make` names:  sh tools/environment.sh PYTHON CPU GOAL
command -v "$1" >/dev/null || {
  echo "neuroviz: there is no $1 here; name your Python (3.11 or newer):  make lab PYTHON=…" >&2
  exit 1
}
exec "$1" tools/environment.py "$2" "$3"

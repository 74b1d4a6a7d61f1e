# Get what the scenes are checked with. A reader needs no node: the bundles are there.
if ! command -v npm >/dev/null; then
  echo "neuroviz: there is no node here; the tests of web/ are left out"
elif cd web && npm ci --no-audit --no-fund --no-progress --ignore-scripts --loglevel=error; then
  touch node_modules/.installed
else
  echo "neuroviz: npm did not get what web/ needs; its tests are left out"
fi

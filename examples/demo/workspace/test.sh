#!/bin/sh
# Tests that every tea has a time and that coffee is refused.
failed=0
check() {
  got=$(sh kettle.sh "$1" 2>/dev/null)
  if [ "$got" = "$2" ]; then echo "ok    $1 tea: $2 minutes"; else echo "FAIL  $1 tea: '$got' for '$2'"; failed=1; fi
}
check white 2
check green 3
check black 4
check herbal 7
if sh kettle.sh coffee >/dev/null 2>&1; then echo "FAIL  coffee was accepted"; failed=1; else echo "ok    coffee is refused"; fi
exit $failed

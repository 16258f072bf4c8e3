#!/bin/sh
# Runs the tests and packs what is in VERSION. The token is read from the environment and never shown.
sh test.sh || exit 1
if [ -z "$KETTLE_TOKEN" ]; then echo "packed kettle $(cat VERSION), unsigned: nobody gave KETTLE_TOKEN"; exit 0; fi
echo "packed kettle $(cat VERSION), signed with a token of ${#KETTLE_TOKEN} characters"

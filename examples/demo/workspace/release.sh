#!/bin/sh
# Runs the tests and packs the version in VERSION. The token is read from the environment and never printed.
sh test.sh || exit 1
if [ -z "$KETTLE_TOKEN" ]; then echo "packed kettle $(cat VERSION), unsigned: nobody gave KETTLE_TOKEN"; exit 0; fi
echo "packed kettle $(cat VERSION), signed with a token of ${#KETTLE_TOKEN} characters"

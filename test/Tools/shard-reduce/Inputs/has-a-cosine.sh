#!/bin/sh
# Interesting (1) is a file with a cosine; 0: not.
if grep -q stablehlo.cosine "$1"; then exit 1; fi
exit 0

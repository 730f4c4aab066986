#!/bin/bash
# Stands in for a binary of GoogleTest: of its two suites the second fails every other time.
case "$*" in
*--gtest_list_tests*) printf 'Running main()\nOne.\n  A\n  B\nTwo.\n  C\n' ;;
*One.*) echo '[  PASSED  ] 2 tests.' ;;
*)
  echo run >>"$0.runs"
  if (($(wc -l <"$0.runs") % 2)); then
    echo '[  PASSED  ] 1 test.'
  else
    echo 'what it found'
    echo '[  FAILED  ] Two.C (3 ms)'
    exit 1
  fi
  ;;
esac

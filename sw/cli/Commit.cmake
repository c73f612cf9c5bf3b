# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# Writes the short hash of the checked-out commit as a C++ string; "+" marks local changes, no git: "unknown".
set(text "unknown")
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE hash RESULT_VARIABLE rc
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(rc EQUAL 0)
  execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
  set(text "${hash}")
  if(changed)
    string(APPEND text "+")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "inline constexpr const char* kCommit = \"${text}\";\n")

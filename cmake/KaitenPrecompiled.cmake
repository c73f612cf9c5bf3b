# tests/support/precompiled.h, compiled once for all tests: kaiten_precompiled(<target> <options...>) gives a target
# these options and, with clang, lets it start from the precompiled header. It must have no other options that change the
# language.
# Not CMake's own precompiled headers: their options name this folder in a way that keeps clones from sharing the
# compiler's cache. What ccache compares in place of the precompiled header, which holds its own path, is its options and
# its text after preprocessing.
include_guard(GLOBAL)

function(kaiten_precompiled target)
  target_compile_options(${target} PRIVATE ${ARGN})
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  set(pch ${CMAKE_BINARY_DIR}/tests.pch)
  if(NOT TARGET kaiten_test_headers)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
    get_property(directory DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY COMPILE_OPTIONS)
    get_target_property(options GTest::gtest INTERFACE_COMPILE_OPTIONS)
    get_target_property(definitions GTest::gtest INTERFACE_COMPILE_DEFINITIONS)
    list(TRANSFORM definitions PREPEND -D)
    set(of_gtest ${options} ${definitions})
    list(FILTER of_gtest EXCLUDE REGEX NOTFOUND)
    set(header ${PROJECT_SOURCE_DIR}/tests/support/precompiled.h)
    set(options ${flags} ${directory} ${of_gtest} -std=c++20 ${ARGN} -x c++-header)
    set(compile ${CMAKE_CXX_COMPILER} ${options} ${header})
    string(JOIN " " options ${options})
    string(JOIN " " preprocess ${compile})
    add_custom_command(OUTPUT ${pch} ${pch}.sum
      COMMAND ${compile} -fpch-instantiate-templates -Xclang -fno-pch-timestamp -MD -MT ${pch} -MF ${pch}.d -o ${pch}
      COMMAND sh -c "{ echo '${options}' && ${preprocess} -E -P; } | sha256sum >${pch}.sum"
      DEPENDS ${header} DEPFILE ${pch}.d COMMENT "Compiling the headers of tests" VERBATIM)
    add_custom_target(kaiten_test_headers DEPENDS ${pch})
  endif()
  add_dependencies(${target} kaiten_test_headers)
  target_compile_options(${target} PRIVATE "SHELL:-include-pch ${pch}")
endfunction()

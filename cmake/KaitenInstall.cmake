# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# `cmake --install build --prefix DIR`: the tool, the libraries behind kaiten_run and kaiten_board with their headers, and what
# find_package(kaiten) needs; examples/ builds against that and nothing else.
include(CMakePackageConfigHelpers)

# A target and those of this project that it links, in any order.
function(_kaiten_closure target out)
  set(all ${${out}})
  if(NOT target IN_LIST all)
    list(APPEND all ${target})
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(libraries ${target} ${property})
      foreach(library ${libraries})
        if(library MATCHES "^(kaiten|model)_" AND TARGET ${library})
          _kaiten_closure(${library} all)
        endif()
      endforeach()
    endforeach()
  endif()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

set(parts "")
_kaiten_closure(kaiten_run parts)
_kaiten_closure(kaiten_board parts)
foreach(part ${parts})
  # kaiten_graph becomes kaiten::graph; models are part of `all`, as the tool needs them.
  # The Python package (python/) links them into a shared object; nothing in it is meant to be replaced from outside.
  string(REGEX REPLACE "^kaiten_" "" name ${part})
  set_target_properties(${part} PROPERTIES EXPORT_NAME ${name} EXCLUDE_FROM_ALL FALSE)
  get_target_property(type ${part} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${part} PRIVATE -fno-semantic-interposition)
    if(part MATCHES "^model_") # whose speed counts: no detours through tables of a shared object
      set_target_properties(${part} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    endif()
  endif()
endforeach()
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/kaiten)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/kaiten)
install(TARGETS ${parts} EXPORT kaiten ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${headers})
install(EXPORT kaiten NAMESPACE kaiten:: FILE kaiten-targets.cmake DESTINATION ${package})
# The component `tool` is what a package for users holds (KaitenPackage.cmake).
install(TARGETS kaiten RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
if(KAITEN_SHELL_DIR)
  install(DIRECTORY ${KAITEN_SHELL_DIR}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool)
  install(FILES ${KAITEN_SHELL_DIR}/bash/kaiten DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
  install(FILES ${KAITEN_SHELL_DIR}/zsh/_kaiten DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
  install(FILES ${KAITEN_SHELL_DIR}/fish/kaiten.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)
endif()
# The public headers and no others.
set(list ${PROJECT_SOURCE_DIR}/sw/public_headers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
file(STRINGS ${list} public_headers REGEX "^[a-z].*\\.h$")
foreach(header ${public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/sw/${header} DESTINATION ${headers}/${folder})
endforeach()

configure_package_config_file(cmake/kaiten-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/kaiten-config.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/kaiten-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kaiten-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/kaiten-config-version.cmake
  DESTINATION ${package})

# `pkg-config --cflags --libs kaiten`, for other build systems: the same archives, in any order.
set(archives "")
foreach(part ${parts})
  get_target_property(type ${part} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    string(APPEND archives " -l$<TARGET_FILE_BASE_NAME:${part}>")
  endif()
endforeach()
file(RELATIVE_PATH from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kaiten.pc CONTENT "prefix=\${pcfiledir}/${from_pkgconfig}
Name: kaiten
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Requires: fmt, zlib, libpng, libjpeg, libzip, liblz4, libzstd, libhwy, fftw3, fftw3f, protobuf-lite
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR} -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}/kaiten
Libs: -L\${prefix}/${CMAKE_INSTALL_LIBDIR} -Wl,--start-group${archives} -Wl,--end-group -latomic -ldl -pthread
")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kaiten.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

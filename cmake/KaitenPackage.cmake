# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# `make deb`: the tool with its man pages and completion as a Debian package, for machines that do not build. Libraries and
# headers stay with `cmake --install`; so does kaiten_mpi, which would bring a whole MPI along.
set(doc ${CMAKE_INSTALL_DATADIR}/doc/kaiten)
install(FILES cmake/debian/copyright DESTINATION ${doc} COMPONENT tool EXCLUDE_FROM_ALL)
install(FILES CHANGELOG.md DESTINATION ${doc} RENAME NEWS COMPONENT tool EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the Kaiten authors <authors@kaiten.invalid>" CACHE STRING "Maintainer of packages made here")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tool)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/finish.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME kaiten)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS bash-completion)
set(CPACK_DEBIAN_TOOL_DESCRIPTION "Compiles quantised networks (TensorFlow Lite, ONNX) for the Kaiten accelerator,
runs them cycle by cycle on simulations of its RTL, compares every tensor with
an independent reference, and reports, plans and estimates.")
include(CPack)

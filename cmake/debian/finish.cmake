# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# The tree that CPack is about to pack gets a changelog in Debian's form, and what the policy wants compressed is.
set(share ${CPACK_TEMPORARY_DIRECTORY}/tool/usr/share)
execute_process(COMMAND git -C ${CMAKE_CURRENT_LIST_DIR} log -1 --date=rfc2822 "--format=%h;%cd" OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit) # not a clone
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
  set(commit "unknown;${now}")
endif()
list(GET commit 1 date)
list(GET commit 0 commit)
file(WRITE ${share}/doc/kaiten/changelog "kaiten (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Built from commit ${commit}; NEWS.gz says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(GLOB pages ${share}/man/man1/*.1)
execute_process(COMMAND gzip -9n ${pages} ${share}/doc/kaiten/changelog ${share}/doc/kaiten/NEWS COMMAND_ERROR_IS_FATAL ANY)

# SPDX-License-Identifier: BSD-3-Clause
# Debian packages, one for each component of the installation: `./dev packages`.
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/version.sh OUTPUT_VARIABLE package_version
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CPACK_PACKAGE_VERSION ${package_version})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Nagaya developers <nagaya@localhost>")
set(CPACK_PACKAGE_VENDOR "Nagaya")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# dpkg-shlibdeps finds the packages that programs and libraries need.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)

# nagaya_debian_package(COMPONENT DESCRIPTION OTHERS...): it depends on the others, ours of this version.
function(nagaya_debian_package component description)
  string(TOUPPER ${component} name)
  foreach(other ${ARGN})
    if(other MATCHES "nagaya")
      string(APPEND other " (= ${package_version})")
    endif()
    list(APPEND others ${other})
  endforeach()
  list(JOIN others ", " others)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${component} PARENT_SCOPE)
  set(CPACK_COMPONENT_${name}_DESCRIPTION "${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "${others}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
endfunction()
nagaya_debian_package(libnagaya0 "What programs and MPIs load that live in one address space.")
nagaya_debian_package(libnagaya-dev "Headers, manual pages of functions, pkg-config and CMake files." libnagaya0 libc6-dev)
nagaya_debian_package(nagaya "The command. It runs unmodified programs of any MPI so that their messages are plain
loads and stores: no kernel module, no patched MPI, no privileges." libnagaya0)
set(CPACK_DEBIAN_NAGAYA_PACKAGE_RECOMMENDS "libpmix2 | libpmix2t64")
nagaya_debian_package(nagaya-openmpi "Components that Debian's Open MPI loads by itself under `nagaya run`." nagaya)
nagaya_debian_package(libnagaya-blacs "The BLACS for ScaLAPACK programs under `nagaya run --blacs`." nagaya)
nagaya_debian_package(nagaya-xmp "XcalableMP: C with directives for distributed arrays, halos, loops and coarrays."
                      nagaya gcc libc6-dev)
nagaya_debian_package(nagaya-bench "`nagaya bench` measures MPIs, the limit of the hardware and Nagaya by turns."
                      nagaya python3)
set(CPACK_DEBIAN_NAGAYA-BENCH_PACKAGE_RECOMMENDS "python3-matplotlib, python3-markdown")
nagaya_debian_package(python3-nagaya "The Python package: numpy arrays of other processes without a copy."
                      nagaya python3-numpy "libpython3.11 | libpython3.13")  # no task is made of a Python without it
include(CPack)

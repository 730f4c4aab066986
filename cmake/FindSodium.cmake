# libsodium's static library, as the target sodium-static. Debian: libsodium-dev.
find_path(SODIUM_INCLUDE_DIR sodium.h)
find_library(SODIUM_LIBRARY libsodium.a)
mark_as_advanced(SODIUM_INCLUDE_DIR SODIUM_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Sodium REQUIRED_VARS SODIUM_LIBRARY SODIUM_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian package libsodium-dev (./run build installs it)")
if(Sodium_FOUND AND NOT TARGET sodium-static)
  add_library(sodium-static STATIC IMPORTED GLOBAL)
  set_target_properties(sodium-static PROPERTIES
    IMPORTED_LOCATION "${SODIUM_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${SODIUM_INCLUDE_DIR}")
endif()

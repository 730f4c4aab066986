# What `cmake --install` puts under a prefix, so that another project can say
# find_package(shardc) and link shardc::ShardcPipelines (the compiler), any other
# library by its name, or shardc::ShardRuntime (the runtime alone).
include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/shardc")
if(SHARDC_BUILD_COMPILER)
  foreach(directory "${SHARDC_SOURCE_DIR}/include/shardc" "${CMAKE_BINARY_DIR}/include/shardc")
    install(DIRECTORY "${directory}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT compiler
      FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def" PATTERN "*.inc"
      PATTERN "CMakeFiles" EXCLUDE)
  endforeach()
endif()
install(DIRECTORY "${SHARDC_SOURCE_DIR}/include/shardc-c" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT compiler)
install(DIRECTORY "${SHARDC_SOURCE_DIR}/runtime/include/shardrt" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT runtime FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES "${SHARDC_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

install(EXPORT shardcTargets NAMESPACE shardc:: DESTINATION "${package}" COMPONENT runtime)
get_property(SHARDC_USES_MLIR GLOBAL PROPERTY SHARDC_USES_MLIR)
configure_package_config_file("${SHARDC_SOURCE_DIR}/cmake/shardcConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/shardcConfig.cmake" INSTALL_DESTINATION "${package}")
# Before 1.0 a minor version may change any interface.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/shardcConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/shardcConfig.cmake" "${CMAKE_BINARY_DIR}/shardcConfigVersion.cmake"
  "${SHARDC_SOURCE_DIR}/cmake/FindSodium.cmake" DESTINATION "${package}" COMPONENT runtime)

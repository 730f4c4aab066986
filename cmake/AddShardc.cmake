# One call for a library. Compiler libraries share one precompiled header and
# link libMLIR.so; STANDALONE libraries (Layout) know neither MLIR nor LLVM;
# INTERNAL ones serve our own tools and are not installed.
#
#   add_shardc_library(ShardcPartition Partition.cpp
#     DEPENDS ShardcPartitionPassIncGen LINK_LIBS PUBLIC ShardcSpmd)
function(add_shardc_library name)
  cmake_parse_arguments(ARG "STANDALONE;INTERNAL" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    "$<BUILD_INTERFACE:${SHARDC_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  if(ARG_LINK_LIBS)
    target_link_libraries(${name} ${ARG_LINK_LIBS})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_STANDALONE)
    shardc_use_mlir(${name})
  endif()
  if(NOT ARG_INTERNAL)
    install(TARGETS ${name} EXPORT shardcTargets COMPONENT compiler)
    if(NOT ARG_STANDALONE)
      set_property(GLOBAL APPEND PROPERTY SHARDC_USES_MLIR shardc::${name})
    endif()
  endif()
endfunction()

# A tool: one executable in build/bin.
function(add_shardc_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE
    "${SHARDC_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include")
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  shardc_use_mlir(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  install(TARGETS ${name} COMPONENT tools)
endfunction()

# MLIR's headers (as system headers), libMLIR.so, the precompiled header.
function(shardc_use_mlir target)
  # An installed package finds MLIR again by itself: cmake/shardcConfig.cmake.in.
  foreach(directory ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_include_directories(${target} SYSTEM PUBLIC "$<BUILD_INTERFACE:${directory}>")
  endforeach()
  target_link_libraries(${target} PUBLIC MLIR LLVM)
  if(NOT TARGET ShardcPrecompiled)
    file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/ShardcPrecompiled.cpp" CONTENT "")
    add_library(ShardcPrecompiled OBJECT "${CMAKE_BINARY_DIR}/ShardcPrecompiled.cpp")
    target_include_directories(ShardcPrecompiled SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_compile_options(ShardcPrecompiled PRIVATE -Wall -Wextra -Wno-unused-parameter)
    target_precompile_headers(ShardcPrecompiled PRIVATE "${SHARDC_SOURCE_DIR}/cmake/Precompiled.h")
  endif()
  # The precompiled header is built for libraries; an executable's objects must be
  # of the same kind (-fPIC, not -fPIE) to use it.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ShardcPrecompiled)
endfunction()

# mlir-tblgen over one .td of include/shardc: pairs of a generator flag and the
# name of what it writes beside the .td.
#   shardc_tablegen(ShardcFooIncGen Foo.td -gen-op-decls Foo.h.inc ...)
function(shardc_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(LLVM_TARGET_DEPENDS "")
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args generator)
    set(flags ${generator})
    list(POP_FRONT args next)
    while(next MATCHES "^-")
      list(APPEND flags ${next})
      list(POP_FRONT args next)
    endwhile()
    mlir_tablegen(${next} ${flags} EXTRA_INCLUDES ${MLIR_INCLUDE_DIRS} "${SHARDC_SOURCE_DIR}/include")
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

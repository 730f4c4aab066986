# One call for a library. Compiler libraries share one precompiled header, those
# that link ShardcStableHLO a second one, those that name another one have that, and link libMLIR.so;
# STANDALONE libraries (Layout) know neither MLIR nor LLVM; INTERNAL ones serve our own tools and are not installed.
#
#   add_shardc_library(ShardcPartition Partition.cpp
#     DEPENDS ShardcPartitionPassIncGen LINK_LIBS PUBLIC ShardcSpmd)
function(add_shardc_library name)
  cmake_parse_arguments(ARG "STANDALONE;INTERNAL" "" "DEPENDS;LINK_LIBS;PRECOMPILED" ${ARGN})
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
    if(ARG_PRECOMPILED)
      shardc_use_mlir(${name} ${ARG_PRECOMPILED})
    elseif("ShardcStableHLO" IN_LIST ARG_LINK_LIBS)
      shardc_use_mlir(${name} PrecompiledStableHLO ShardcStableHLOIncGen)
    else()
      shardc_use_mlir(${name} Precompiled)
    endif()
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
  shardc_use_mlir(${name} Precompiled)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  install(TARGETS ${name} COMPONENT tools)
endfunction()

# Tests run their own code once: optimising it took two thirds of what they compiled.
function(shardc_unoptimised target)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O0>")
endfunction()

# MLIR's headers (as system headers), libMLIR.so, and cmake/HEADER.h precompiled,
# after the targets that write what it includes. TESTS: for unit tests.
#   shardc_use_mlir(ShardcRules PrecompiledStableHLO ShardcStableHLOIncGen)
function(shardc_use_mlir target header)
  cmake_parse_arguments(ARG "TESTS" "" "" ${ARGN})
  # An installed package finds MLIR again by itself: cmake/shardcConfig.cmake.in.
  foreach(directory ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_include_directories(${target} SYSTEM PUBLIC "$<BUILD_INTERFACE:${directory}>")
  endforeach()
  target_link_libraries(${target} PUBLIC MLIR LLVM)
  if(NOT TARGET Shardc${header})
    file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/Shardc${header}.cpp" CONTENT "")
    add_library(Shardc${header} OBJECT "${CMAKE_BINARY_DIR}/Shardc${header}.cpp")
    target_include_directories(Shardc${header} PRIVATE "${SHARDC_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include")
    target_include_directories(Shardc${header} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    # Without times of files: ccache knows what was built with it in another checkout.
    target_compile_options(Shardc${header} PRIVATE -Wall -Wextra -Wno-unused-parameter "SHELL:-Xclang -fno-pch-timestamp")
    target_precompile_headers(Shardc${header} PRIVATE "${SHARDC_SOURCE_DIR}/cmake/${header}.h")
    if(ARG_TESTS)
      shardc_unoptimised(Shardc${header})
      target_link_libraries(Shardc${header} PRIVATE GTest::gtest)
    endif()
    if(ARG_UNPARSED_ARGUMENTS)
      add_dependencies(Shardc${header} ${ARG_UNPARSED_ARGUMENTS})
    endif()
  endif()
  # The precompiled header is built for libraries; an executable's objects must be
  # of the same kind (-fPIC, not -fPIE) to use it.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM Shardc${header})
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

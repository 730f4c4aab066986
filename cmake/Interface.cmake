# SHARDC_INTERFACE: a digest of what programs and the runtime tell each other, as its headers say it: names and arguments of
# calls, numbers of words, formats of tables. Programs carry it, and the runtime takes those alone that carry its own; so whoever
# changes a word has changed the digest. Comments and spaces do not count. Not of these: what hosts of programs call, which
# programs do not.
file(GLOB headers RELATIVE "${SHARDC_SOURCE_DIR}"
  "${SHARDC_SOURCE_DIR}/runtime/include/shardrt/*.h" "${SHARDC_SOURCE_DIR}/runtime/include/shardrt/*.def")
list(REMOVE_ITEM headers runtime/include/shardrt/shardrt.h runtime/include/shardrt/Checkpoint.h
  runtime/include/shardrt/Devices.h runtime/include/shardrt/Jobs.h runtime/include/shardrt/Symbols.h)
list(APPEND headers include/shardc/Layout/Exchange.h include/shardc/Layout/Extents.h include/shardc/Layout/Formula.h)
list(SORT headers)
set(all "")
foreach(header ${headers})
  set_property(DIRECTORY "${SHARDC_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${SHARDC_SOURCE_DIR}/${header}")
  file(READ "${SHARDC_SOURCE_DIR}/${header}" text)
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" " " text "${text}")
  string(REGEX REPLACE "//[^\n]*" " " text "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
  string(APPEND all "${header}: ${text}\n")
endforeach()
string(SHA256 SHARDC_INTERFACE "${all}")
string(SUBSTRING "${SHARDC_INTERFACE}" 0 16 SHARDC_INTERFACE)

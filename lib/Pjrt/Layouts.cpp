//===- Layouts.cpp - Layouts of arrays in memory --------------------------===//
//
// Always dense, and row-major but where a program's author asks for another
// order of dims: a program takes and gives these as arrays of that order. It is
// said by an extension, as callers that do not find it parse the text of a
// program, once for its arguments and twice for its results.
//
//===----------------------------------------------------------------------===//

#include "Executables.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

namespace shardc::pjrt {

Layouts_MemoryLayout *layoutOf(const std::vector<int64_t> &majorToMinor) {
  static std::mutex mutex;
  // Never deleted: callers may ask when the process ends.
  static auto &kept = *new std::map<std::vector<int64_t>,
                                    std::unique_ptr<Layouts_MemoryLayout>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Layouts_MemoryLayout> &layout = kept[majorToMinor];
  if (!layout) {
    layout = std::make_unique<Layouts_MemoryLayout>();
    layout->majorToMinor = majorToMinor;
    layout->minorToMajor.assign(majorToMinor.rbegin(), majorToMinor.rend());
    layout->text = "{";
    for (size_t i = majorToMinor.size(); i-- > 0;)
      layout->text += std::to_string(majorToMinor[i]) + (i ? "," : "");
    layout->text += "}";
  }
  return layout.get();
}

static Layouts_MemoryLayout *makeRowMajor(size_t numDims) {
  std::vector<int64_t> order(numDims);
  std::iota(order.begin(), order.end(), 0);
  return layoutOf(order);
}

Layouts_MemoryLayout *rowMajor(size_t numDims) {
  // Callers ask for that of each buffer.
  static const auto usual = [] {
    std::array<Layouts_MemoryLayout *, 8> table;
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = makeRowMajor(i);
    return table;
  }();
  return numDims < usual.size() ? usual[numDims] : makeRowMajor(numDims);
}

Error *Layouts_MemoryLayout_Destroy(Layouts_MemoryLayout_Destroy_Args *) {
  return nullptr;
}

Error *
Layouts_MemoryLayout_Serialize(Layouts_MemoryLayout_Serialize_Args *args) {
  args->serialized_bytes = args->layout->text.data();
  args->serialized_bytes_size = args->layout->text.size();
  args->serialized_layout =
      reinterpret_cast<Layouts_SerializedLayout *>(args->layout);
  args->serialized_layout_deleter = [](Layouts_SerializedLayout *) {};
  return nullptr;
}

Error *
Layouts_Client_GetDefaultLayout(Layouts_Client_GetDefaultLayout_Args *args) {
  args->layout = rowMajor(args->num_dims);
  return nullptr;
}

Error *Layouts_Buffer_MemoryLayout(Layouts_Buffer_MemoryLayout_Args *args) {
  const Buffer &buffer = *args->buffer;
  args->layout = buffer.layout ? buffer.layout : rowMajor(buffer.dims.size());
  return nullptr;
}

Error *Layouts_Topology_GetDefaultLayout(
    Layouts_Topology_GetDefaultLayout_Args *args) {
  args->layout = rowMajor(args->num_dims);
  return nullptr;
}

Error *Layouts_Executable_GetOutputLayouts(
    Layouts_Executable_GetOutputLayouts_Args *args) {
  const Program &program = *args->executable->program;
  args->num_outputs = program.resultLayouts.size();
  args->layouts = program.resultLayouts.data();
  return nullptr;
}

Error *Layouts_Executable_GetParameterLayouts(
    Layouts_Executable_GetParameterLayouts_Args *args) {
  const Program &program = *args->executable->program;
  args->num_parameters = program.argumentLayouts.size();
  args->layouts = program.argumentLayouts.data();
  return nullptr;
}

} // namespace shardc::pjrt

//===- Header.cpp - The C header of an artifact ---------------------------===//

#include "shardc/Translation/Artifact.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

/// `text` as a C identifier.
static std::string identifier(StringRef text) {
  std::string name;
  for (char c : text)
    name += isAlnum(c) ? c : '_';
  if (name.empty() || isDigit(name.front()))
    name.insert(0, "program_");
  return name;
}

/// `text` inside a C comment: on one line, and not ending it.
static std::string commentText(StringRef text) {
  std::string out;
  for (char c : text)
    out += isPrint(c) ? c : '?';
  for (size_t at; (at = out.find("*/")) != std::string::npos;)
    out[at] = '?';
  for (size_t at; (at = out.find("/*")) != std::string::npos;)
    out[at] = '?';
  return out;
}

static void emitList(raw_ostream &out, ArrayRef<int64_t> values) {
  interleaveComma(values, out);
}

static void emitValueComment(raw_ostream &out, StringRef list, size_t index,
                             const ValueMetadata &value,
                             ArrayRef<MeshAxis> mesh) {
  out << " *   " << list << "[" << index << "]  "
      << commentText(value.elementType) << " [";
  emitList(out, value.shape);
  out << "]";
  for (auto [d, dim] : enumerate(value.dims)) {
    if (dim.axes.empty())
      continue;
    out << ", dim " << d << " over ";
    interleaveComma(dim.axes, out,
                    [&](int64_t axis) { out << commentText(mesh[axis].name); });
  }
  if (!value.name.empty())
    out << "  " << commentText(value.name);
  out << "\n";
}

static void emitBoundaries(raw_ostream &out, StringRef prefix, StringRef list,
                           size_t index, const ValueMetadata &value) {
  for (auto [d, dim] : enumerate(value.dims)) {
    if (dim.axes.empty())
      continue;
    out << "static const int64_t " << prefix << "_" << list << index << "_dim"
        << d << "_boundaries[" << dim.boundaries.indices().size() << "] = {";
    emitList(out, dim.boundaries.indices());
    out << "};\n";
  }
}

void shardc::emitHeader(const ProgramMetadata &metadata, raw_ostream &out) {
  std::string name = identifier(metadata.name);
  std::string upper = StringRef(name).upper();
  out << "/* " << commentText(metadata.name) << ": written by "
      << commentText(metadata.compiler) << ", do not edit. */\n"
      << "#ifndef SHARDC_PROGRAM_" << upper << "_H\n"
      << "#define SHARDC_PROGRAM_" << upper << "_H\n\n"
      << "#include \"shardrt/shardrt.h\"\n#include <stdint.h>\n\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      << "enum {\n"
      << "  " << upper << "_RANKS = " << metadata.numRanks() << ",\n"
      << "  " << upper << "_INPUTS = " << metadata.arguments.size() << ",\n"
      << "  " << upper << "_OUTPUTS = " << metadata.results.size()
      << "\n};\n\n";

  out << "/** One step of one rank. The mesh is <[";
  interleaveComma(metadata.mesh, out, [&](const MeshAxis &axis) {
    out << '"' << commentText(axis.name) << "\"=" << axis.size;
  });
  out << "]>, rank numbers are row-major over it. Global shapes:\n *\n";
  for (auto [i, value] : enumerate(metadata.arguments))
    emitValueComment(out, "inputs", i, value, metadata.mesh);
  for (auto [i, value] : enumerate(metadata.results))
    emitValueComment(out, "outputs", i, value, metadata.mesh);
  out << " *\n * Each buffer is this rank's shard: dense, row-major, 64-byte "
         "aligned. The shard\n"
         " * with coordinate c along a dim's axes holds the elements from "
         "boundaries[c] up\n"
         " * to, not including, boundaries[c + 1]. Returns 0 or a "
         "shardrt_status. Load the\n"
         " * artifact with shardrt_program_load and run it with "
         "shardrt_world_run. */\n"
      << "int shardc_main(shardrt_context *ctx, void *const *inputs, void "
         "*const *outputs);\n\n";

  std::string boundaries;
  raw_string_ostream boundariesOut(boundaries);
  for (auto [i, value] : enumerate(metadata.arguments))
    emitBoundaries(boundariesOut, name, "input", i, value);
  for (auto [i, value] : enumerate(metadata.results))
    emitBoundaries(boundariesOut, name, "output", i, value);
  if (!boundaries.empty())
    out << boundaries << "\n";
  out << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

//===- Inputs.cpp - The arrays that a program is run on -------------------===//

#include "Inputs.h"
#include "shardc/Support/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace shardc;

std::string shardc::nameOf(StringRef kind, size_t index,
                           const ValueMetadata &value) {
  std::string name = (kind + " " + Twine(index)).str();
  if (!value.name.empty())
    name += " (" + value.name + ")";
  return name;
}

static std::string describe(NpyType type, ArrayRef<int64_t> shape) {
  std::string text = "'" + type.str() + "' [";
  raw_string_ostream out(text);
  interleaveComma(shape, out);
  out << "]";
  return text;
}

/// Takes `array`, read from `source`, for `value`.
static Expected<HostArray> adopt(NpyArray array, const ValueMetadata &value,
                                 const Twine &name, const Twine &source) {
  ElementType type = *shardrt::elementTypeNamed(value.elementType);
  if (!canHold(type, array.type) || array.shape != value.shape)
    return toolError(ExitCode::IO,
                     name + ": expected " + describeArray(type, value.shape) +
                         " (stored as " +
                         describe(npyTypeOf(type), value.shape) + "), found " +
                         describe(array.type, array.shape) + " in " + source);
  return HostArray{type, std::move(array.shape), std::move(array.data),
                   std::move(array.file), array.inFile};
}

/// Bytes of an array as NumPy stores `value`.
static uint64_t describedBytes(const ValueMetadata &value) {
  uint64_t bytes =
      npyTypeOf(*shardrt::elementTypeNamed(value.elementType)).bytes;
  for (int64_t size : value.shape)
    bytes *= size;
  return bytes;
}

/// Reads PREFIX0, PREFIX1, … of an archive, one for each of `values`.
static Expected<std::vector<HostArray>>
readMembers(StringRef path, StringRef prefix, StringRef kind,
            ArrayRef<ValueMetadata> values, bool inPlace = false,
            function_ref<bool(size_t)> isGiven = nullptr) {
  Expected<NpzArchive> archive = NpzArchive::open(path);
  if (!archive)
    return ioError(archive.takeError());
  std::string tooMany = (prefix + Twine(values.size())).str();
  if (archive->contains(tooMany))
    return toolError(ExitCode::IO, path + ": has a member '" + tooMany +
                                       "', but the program has " +
                                       Twine(values.size()) + " " + kind + "s");
  std::vector<HostArray> arrays;
  for (auto [i, value] : enumerate(values)) {
    if (isGiven && isGiven(i)) {
      arrays.emplace_back();
      continue;
    }
    std::string member = (prefix + Twine(i)).str();
    std::string name = nameOf(kind, i, value);
    if (!archive->contains(member))
      return toolError(
          ExitCode::IO,
          name + ": " + path + " has no member '" + member + "'; expected " +
              describeArray(*shardrt::elementTypeNamed(value.elementType),
                            value.shape));
    // Wrong shapes get the message below; a bomb is not inflated for it.
    uint64_t expected = describedBytes(value);
    Expected<NpyArray> array = archive->read(
        member, std::max<uint64_t>(uint64_t(64) << 20, 2 * expected), inPlace);
    if (!array)
      return ioError(array.takeError());
    Expected<HostArray> adopted = adopt(std::move(*array), value, name,
                                        path + ", member '" + member + "'");
    if (!adopted)
      return adopted.takeError();
    arrays.push_back(std::move(*adopted));
  }
  return arrays;
}

/// One argument from "@file.npy" or an array as text.
static Expected<HostArray> readInput(StringRef text, const ValueMetadata &value,
                                     StringRef name, bool inPlace) {
  if (text.consume_front("@")) {
    Expected<NpyArray> array = readNpy(text, inPlace);
    if (!array)
      return ioError(array.takeError());
    return adopt(std::move(*array), value, name, text);
  }
  Expected<HostArray> array = parseArray(text);
  if (!array)
    return toolError(ExitCode::Usage,
                     name + ": " + toString(array.takeError()));
  ElementType type = *shardrt::elementTypeNamed(value.elementType);
  if (array->type != type || array->shape != value.shape)
    return toolError(ExitCode::Usage,
                     name + ": expected " + describeArray(type, value.shape) +
                         ", found " + describeArray(array->type, array->shape) +
                         " on the command line");
  return array;
}

HostArray shardc::randomInput(const ProgramMetadata &program,
                              const RunOptions &options, size_t index) {
  const ValueMetadata &value = program.arguments[index];
  return randomArray(*shardrt::elementTypeNamed(value.elementType), value.shape,
                     options.seed, index, options.low, options.high);
}

Expected<std::vector<HostArray>>
shardc::makeInputs(const ProgramMetadata &program, const RunOptions &options,
                   bool inPlace, function_ref<bool(size_t)> isGiven) {
  if (!options.inputsFile.empty())
    return readMembers(options.inputsFile, "in", "input", program.arguments,
                       inPlace, isGiven);
  std::vector<HostArray> arrays;
  if (options.inputs.empty()) {
    for (size_t i = 0; i < program.arguments.size(); ++i)
      arrays.push_back(isGiven && isGiven(i)
                           ? HostArray()
                           : randomInput(program, options, i));
    return arrays;
  }
  // Arguments that come from elsewhere are not among those listed.
  std::vector<size_t> listed;
  for (size_t i = 0; i < program.arguments.size(); ++i)
    if (!isGiven || !isGiven(i))
      listed.push_back(i);
  size_t given = options.inputs.size(), needed = listed.size();
  if (given > needed)
    return toolError(ExitCode::Usage, "too many inputs: " + Twine(given) +
                                          " are given, the program takes " +
                                          Twine(needed));
  if (given < needed) {
    const ValueMetadata &missing = program.arguments[listed[given]];
    return toolError(
        ExitCode::Usage,
        nameOf("input", listed[given], missing) +
            " is missing: the program takes " + Twine(needed) + ", " +
            Twine(given) + " are given; expected " +
            describeArray(*shardrt::elementTypeNamed(missing.elementType),
                          missing.shape));
  }
  arrays.resize(program.arguments.size());
  for (auto [number, i] : enumerate(listed)) {
    const ValueMetadata &value = program.arguments[i];
    Expected<HostArray> array = readInput(options.inputs[number], value,
                                          nameOf("input", i, value), inPlace);
    if (!array)
      return array.takeError();
    arrays[i] = std::move(*array);
  }
  return arrays;
}

/// False for text in which no type has a dynamic dim.
static bool mayBeDynamic(const RunOptions &options) {
  // Whoever asks has looked.
  if (options.isArtifact || !options.compile.stages.dynamic.empty())
    return true;
  if (!options.compile.text && !isStoredFile(options.model))
    return false;
  auto file = options.compile.text
                  ? MemoryBuffer::getMemBuffer(*options.compile.text)
                  : MemoryBuffer::getFile(options.model);
  if (!file)
    return false;
  StringRef text = (*file)->getBuffer();
  return text.starts_with("ML\xefR") || text.contains("tensor<?") ||
         text.contains("x?x");
}

std::string shardc::shapesOfInputs(const RunOptions &options) {
  if ((options.inputs.empty() && options.inputsFile.empty()) ||
      !mayBeDynamic(options))
    return {};
  std::string shapes;
  raw_string_ostream out(shapes);
  auto add = [&](size_t i, ArrayRef<int64_t> shape) {
    out << "?" << i << "=";
    if (shape.empty())
      out << "scalar";
    interleave(shape, out, "x");
    out << ";";
  };
  // A pipe is read once, when its array is needed.
  if (!options.inputsFile.empty() && !isStoredFile(options.inputsFile))
    return {};
  if (!options.inputsFile.empty()) {
    Expected<NpzArchive> archive = NpzArchive::open(options.inputsFile);
    if (!archive) {
      consumeError(archive.takeError());
      return {};
    }
    for (size_t i = 0; archive->contains("in" + std::to_string(i)); ++i) {
      Expected<NpyArray> array =
          archive->read("in" + std::to_string(i), UINT64_MAX, /*inPlace=*/true);
      if (array)
        add(i, array->shape);
      else
        consumeError(array.takeError());
    }
    return shapes;
  }
  for (auto [i, input] : enumerate(options.inputs)) {
    StringRef text = input;
    if (text.consume_front("@")) {
      if (!isStoredFile(text))
        continue;
      Expected<NpyArray> array = readNpy(text, /*inPlace=*/true);
      if (array)
        add(i, array->shape);
      else
        consumeError(array.takeError());
      continue;
    }
    Expected<HostArray> array = parseArray(text);
    if (array)
      add(i, array->shape);
    else
      consumeError(array.takeError());
  }
  return shapes;
}

Expected<std::vector<HostArray>>
shardc::readExpected(const ProgramMetadata &program, StringRef path) {
  return readMembers(path, "out", "output", program.results);
}

Error shardc::writeOutputs(StringRef path, ArrayRef<HostArray> outputs) {
  std::vector<NpyView> views;
  for (auto [i, output] : enumerate(outputs))
    views.push_back(viewOf(output, ("out" + Twine(i)).str()));
  return ioError(writeNpz(path, views));
}

//===- MachineFile.cpp - Machines as files --------------------------------===//
#include "shardc/Driver/MachineFile.h"
#include "shardc/Driver/Errors.h"
#include "shardc/Support/InputFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

/// Sets figure `name` to what the file has for it.
static std::string setFrom(Machine &machine, const Twine &name,
                           const json::Value &value) {
  if (!getFigure(machine, name.str()))
    return setFigure(machine, name.str(), 0.0); // says that there is none
  if (std::optional<double> number = value.getAsNumber())
    return setFigure(machine, name.str(), *number);
  if (std::optional<StringRef> quantity = value.getAsString())
    return setFigure(machine, name.str(), std::string_view(*quantity));
  return ("figure '" + name +
          "' is neither a number nor a quantity such as \"5 GB/s\"")
      .str();
}

/// Sets the figures of the link `prefix`.
static std::string setLink(Machine &machine, const Twine &prefix,
                           const json::Value &value) {
  const json::Object *link = value.getAsObject();
  if (!link)
    return ("'" + prefix +
            "' is no object such as {\"bandwidth\": \"5 GB/s\", \"latency\": "
            "\"20 us\"}")
        .str();
  for (const auto &[name, figure] : *link)
    if (std::string problem =
            setFrom(machine, prefix + "." + StringRef(name), figure);
        !problem.empty())
      return problem;
  return {};
}

std::string shardc::readMachineText(StringRef text, Machine &machine) {
  Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return toString(parsed.takeError());
  const json::Object *object = parsed->getAsObject();
  if (!object)
    return "expected an object such as {\"preset\": \"generic\", \"flops\": "
           "\"100 GFLOP/s\"}";
  StringRef preset = kDefaultMachine;
  if (const json::Value *given = object->get("preset")) {
    std::optional<StringRef> name = given->getAsString();
    if (!name || name->contains(','))
      return "'preset' is not the name of a preset";
    preset = *name;
  }
  if (std::string problem = parseMachine(preset, machine); !problem.empty())
    return problem;
  // Links before axes: an axis has the figures of `link` but for those it
  // names.
  if (const json::Value *link = object->get("link"))
    if (std::string problem = setLink(machine, "link", *link); !problem.empty())
      return problem;
  for (const auto &[key, value] : *object) {
    StringRef name = key;
    if (name == "preset" || name == "link")
      continue;
    if (name == "axes") {
      const json::Object *axes = value.getAsObject();
      if (!axes)
        return "'axes' is no object such as {\"x\": {\"latency\": \"20 us\"}}";
      for (const auto &[axis, link] : *axes)
        if (std::string problem =
                setLink(machine, "axes." + StringRef(axis), link);
            !problem.empty())
          return problem;
      continue;
    }
    if (std::string problem = setFrom(machine, name, value); !problem.empty())
      return problem;
  }
  return {};
}

std::string shardc::writeMachineText(const Machine &machine) {
  auto linkOf = [](const Link &link) {
    return json::Object{{"bandwidth", link.bandwidth},
                        {"latency", link.latency}};
  };
  json::Object object{{"preset", machine.name}, {"link", linkOf(machine.link)}};
  for (const Figure &figure : machineFigures())
    object[StringRef(figure.name)] = *getFigure(machine, figure.name);
  json::Object axes;
  for (const auto &[name, link] : machine.axes)
    axes[name] = linkOf(link);
  if (!axes.empty())
    object["axes"] = std::move(axes);
  std::string text;
  raw_string_ostream(text) << formatv("{0:2}", json::Value(std::move(object)))
                           << "\n";
  return text;
}

Expected<Machine> shardc::readMachine(StringRef option) {
  Machine machine;
  if (!option.ends_with(".json")) {
    if (std::string problem = parseMachine(option, machine); !problem.empty())
      return toolError(ExitCode::Usage, "--machine=" + option + ": " + problem);
    return machine;
  }
  Expected<std::unique_ptr<MemoryBuffer>> file =
      readInputFile(option, /*isText=*/true);
  if (!file)
    return toolError(ExitCode::IO, toString(file.takeError()));
  if (std::string problem = readMachineText((*file)->getBuffer(), machine);
      !problem.empty())
    return toolError(ExitCode::Usage, option + ": " + problem);
  return machine;
}

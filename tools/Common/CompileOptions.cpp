//===- CompileOptions.cpp - Options about compiling a model ---------------===//

#include "CompileOptions.h"
#include "Dialects.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace shardc;

CompileOptions::CompileOptions(cl::OptionCategory &category,
                               StringRef targetName, bool writesKernels)
    : reader{targetName, writesKernels} {
  for (const CompileOption &option : compileOptions()) {
    if (option.isForEngines)
      continue;
    Entry &entry = entries.emplace_back();
    entry.option = &option;
    StringRef name =
        StringRef(option.name) == "target" ? targetName : option.name;
    cl::desc help(option.help);
    if (!option.value)
      entry.flag =
          std::make_unique<cl::opt<bool>>(name, help, cl::cat(category));
    else if (option.repeats)
      entry.list = std::make_unique<cl::list<std::string>>(
          name, help, cl::value_desc(option.value), cl::cat(category));
    else
      entry.text = std::make_unique<cl::opt<std::string>>(
          name, help, cl::value_desc(option.value), cl::cat(category));
  }
}

const cl::Option &CompileOptions::Entry::command() const {
  if (flag)
    return *flag;
  if (text)
    return *text;
  return *list;
}

const CompileOptions::Entry &CompileOptions::find(StringRef name) const {
  return *find_if(entries,
                  [&](const Entry &e) { return name == e.option->name; });
}

bool CompileOptions::isGiven(StringRef name) const {
  return find(name).command().getNumOccurrences() > 0;
}

StringRef CompileOptions::target() const {
  return isGiven("target") ? StringRef(*find("target").text) : "cpu";
}

Expected<ModelOptions> CompileOptions::read() const {
  std::vector<GivenOption> given;
  for (const Entry &entry : entries) {
    if (entry.command().getNumOccurrences() == 0)
      continue;
    // What says how a program is cut: of two values neither is the one meant.
    StringRef name = entry.option->name;
    if (is_contained<StringRef>({"ranks", "mesh", "dynamic", "symbolic-mesh"},
                                name)) {
      if (entry.command().getNumOccurrences() > 1)
        return toolError(ExitCode::Usage,
                         "--" + name + " is given twice; give it once, as --" +
                             name + "=" + entry.option->value);
      if (entry.text->empty())
        return toolError(ExitCode::Usage, "--" + name +
                                              "= says nothing; expected --" +
                                              name + "=" + entry.option->value);
    }
    if (entry.flag)
      given.push_back({entry.option->name, *entry.flag ? "true" : "false"});
    else if (entry.text)
      given.push_back({entry.option->name, *entry.text});
    else
      for (const std::string &value : *entry.list)
        given.push_back({entry.option->name, value});
  }
  Expected<ModelOptions> options = readCompileOptions(given, reader);
  if (options)
    options->registerMore = registerConformanceDialects;
  return options;
}

Error CompileOptions::check() const { return read().takeError(); }

const cl::Option *CompileOptions::findGiven(ArrayRef<StringRef> but) const {
  for (const Entry &entry : entries)
    if (!is_contained(but, StringRef(entry.option->name)) &&
        entry.command().getNumOccurrences() > 0)
      return &entry.command();
  return nullptr;
}

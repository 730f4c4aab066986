//===- Faults.cpp - Mistakes to be found ----------------------------------===//

#include "Faults.h"
#include "Faults/Plant.h"
#include "PlantAfter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::fuzz;

/// All but races.
static std::vector<Fault> allFaults() {
  std::vector<Fault> faults;
  for (ArrayRef<Fault> list : {tableFaults(), valueFaults(), reductionFaults(),
                               rankFaults(), mergedFaults()})
    llvm::append_range(faults, list);
  return faults;
}

static std::vector<std::string> namesOf(ArrayRef<Fault> list) {
  std::vector<std::string> names;
  for (const Fault &fault : list)
    names.push_back(fault.name);
  return names;
}

std::vector<std::string> shardc::fuzz::faultNames() {
  return namesOf(allFaults());
}
std::vector<std::string> shardc::fuzz::interpretedFaultNames() {
  std::vector<std::string> names;
  for (const Fault &fault : allFaults())
    if (fault.isInterpreted)
      names.push_back(fault.name);
  return names;
}
std::vector<std::string> shardc::fuzz::raceNames() {
  return namesOf(raceFaults());
}

static std::optional<Fault> find(StringRef name) {
  std::vector<Fault> faults = allFaults();
  llvm::append_range(faults, raceFaults());
  auto found =
      llvm::find_if(faults, [&](const Fault &f) { return name == f.name; });
  if (found == faults.end())
    return std::nullopt;
  return *found;
}

std::vector<std::string> shardc::fuzz::kindsOf(StringRef name) {
  std::optional<Fault> fault = find(name);
  std::vector<std::string> kinds;
  for (StringRef kind : llvm::split(fault ? fault->kinds : "", ','))
    if (!kind.empty())
      kinds.push_back(kind.str());
  return kinds;
}

std::function<void(PassManager &)>
shardc::fuzz::planterOf(StringRef name, std::function<void(bool)> planted) {
  std::optional<Fault> fault = find(name);
  if (!fault)
    return {};
  return [fault = *fault, planted = std::move(planted)](PassManager &pm) {
    pm.addInstrumentation(std::make_unique<PlantAfter>(
        fault.after,
        [fault, planted](ModuleOp module) { planted(fault.plant(module)); }));
  };
}

//===- UserLocation.cpp - The user's line behind a location ---------------===//

#include "shardc/Support/UserLocation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "shardc/Support/KernelAttributes.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;

/// Visits `loc` and what it is made of, outermost first, a callee before its
/// caller, each once: aliases make chains of any depth and any fan-out. Ends
/// where `visit` returns false.
static void walkLocation(Location loc,
                         llvm::function_ref<bool(LocationAttr)> visit) {
  SmallVector<LocationAttr> pending{loc};
  llvm::SmallPtrSet<const void *, 16> seen;
  while (!pending.empty()) {
    LocationAttr current = pending.pop_back_val();
    if (!seen.insert(current.getAsOpaquePointer()).second)
      continue;
    if (!visit(current))
      return;
    llvm::TypeSwitch<LocationAttr>(current)
        .Case([&](NameLoc name) { pending.push_back(name.getChildLoc()); })
        .Case([&](CallSiteLoc site) {
          pending.push_back(site.getCaller());
          pending.push_back(site.getCallee());
        })
        .Case([&](FusedLoc fused) {
          for (Location part : llvm::reverse(fused.getLocations()))
            pending.push_back(part);
        })
        .Case([&](OpaqueLoc opaque) {
          pending.push_back(opaque.getFallbackLocation());
        });
  }
}

/// The lines of files behind `loc`, innermost first.
static SmallVector<FileLineColRange> collectLines(Location loc) {
  SmallVector<FileLineColRange> lines;
  walkLocation(loc, [&](LocationAttr part) {
    if (auto line = dyn_cast<FileLineColRange>(part))
      lines.push_back(line);
    return true;
  });
  return lines;
}

/// The outermost name of `loc` that is no op's, or an empty string.
static StringRef outermostName(Location loc) {
  StringRef found;
  walkLocation(loc, [&](LocationAttr part) {
    if (auto name = dyn_cast<NameLoc>(part);
        name && !name.getName().strref().starts_with(kNamePrefix))
      found = name.getName();
    return found.empty();
  });
  return found;
}

static bool isUserPython(FileLineColRange line) {
  StringRef file = line.getFilename();
  return file.ends_with(".py") && !file.contains("site-packages/") &&
         !file.contains("dist-packages/");
}

/// The line that `userLocation` names; null where there is none.
static FileLineColRange userLine(Location loc) {
  SmallVector<FileLineColRange> lines = collectLines(loc);
  auto line = llvm::find_if(lines, isUserPython);
  if (line != lines.end())
    return *line;
  return lines.empty() ? FileLineColRange() : lines.front();
}

std::string shardc::userLocation(Location loc) {
  if (FileLineColRange line = userLine(loc))
    return (line.getFilename().getValue() + ":" + Twine(line.getStartLine()))
        .str();
  StringRef name = outermostName(loc);
  return name.empty() ? "unknown" : name.str();
}

Location shardc::shortLocation(Location loc) {
  MLIRContext *context = loc.getContext();
  LocationAttr place = UnknownLoc::get(context);
  if (FileLineColRange line = userLine(loc))
    place = line;
  StringRef name = outermostName(loc);
  return name.empty()
             ? Location(place)
             : NameLoc::get(StringAttr::get(context, name), Location(place));
}

std::pair<StringRef, Location> shardc::namedOp(Location loc) {
  std::pair<StringRef, Location> found{{}, loc};
  walkLocation(loc, [&](LocationAttr part) {
    auto name = dyn_cast<NameLoc>(part);
    StringRef text = name ? name.getName().strref() : StringRef();
    if (!text.consume_front(kNamePrefix))
      return true;
    found = {text, name.getChildLoc()};
    return false;
  });
  return found;
}

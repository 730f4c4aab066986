//===- UserLocation.cpp - The user's line behind a location ---------------===//

#include "shardc/Support/UserLocation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;

/// Appends the lines of files behind `loc`, innermost first.
static void collectLines(Location loc,
                         SmallVectorImpl<FileLineColRange> &lines) {
  llvm::TypeSwitch<LocationAttr>(loc)
      .Case([&](FileLineColRange line) { lines.push_back(line); })
      .Case([&](NameLoc name) { collectLines(name.getChildLoc(), lines); })
      .Case([&](CallSiteLoc site) {
        collectLines(site.getCallee(), lines);
        collectLines(site.getCaller(), lines);
      })
      .Case([&](FusedLoc fused) {
        for (Location part : fused.getLocations())
          collectLines(part, lines);
      })
      .Case([&](OpaqueLoc opaque) {
        collectLines(opaque.getFallbackLocation(), lines);
      });
}

/// The outermost name of `loc`, or an empty string.
static StringRef outermostName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto site = dyn_cast<CallSiteLoc>(loc)) {
    StringRef name = outermostName(site.getCallee());
    return name.empty() ? outermostName(site.getCaller()) : name;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = outermostName(part); !name.empty())
        return name;
  return "";
}

static bool isUserPython(FileLineColRange line) {
  StringRef file = line.getFilename();
  return file.ends_with(".py") && !file.contains("site-packages/") &&
         !file.contains("dist-packages/");
}

std::string shardc::userLocation(Location loc) {
  SmallVector<FileLineColRange> lines;
  collectLines(loc, lines);
  auto line = llvm::find_if(lines, isUserPython);
  if (line == lines.end())
    line = lines.begin();
  if (line != lines.end())
    return (line->getFilename().getValue() + ":" + Twine(line->getStartLine()))
        .str();
  StringRef name = outermostName(loc);
  return name.empty() ? "unknown" : name.str();
}

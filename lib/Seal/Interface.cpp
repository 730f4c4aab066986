//===- Interface.cpp - Which runtime a program calls ----------------------===//
#include "shardc/Seal/Interface.h"

std::string_view shardc::runtimeInterface() { return SHARDC_INTERFACE; }

std::string shardc::checkInterface(std::string_view metadata) {
  constexpr std::string_view key = "\"interface\":\"";
  std::string_view said;
  if (size_t at = metadata.find(key); at != metadata.npos)
    said = metadata.substr(at + key.size(), runtimeInterface().size());
  if (said == runtimeInterface())
    return {};
  return "was compiled for a runtime of " +
         (said.empty() ? "an older interface"
                       : "interface " + std::string(said)) +
         ", this one has " + std::string(runtimeInterface());
}

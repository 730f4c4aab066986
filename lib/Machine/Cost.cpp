//===- Cost.cpp - What something takes, in seconds ------------------------===//
#include "shardc/Machine/Cost.h"

using namespace shardc;

Cost::Cost(const Machine &machine, const std::vector<std::string> &axes)
    : machine(machine) {
  for (const std::string &axis : axes)
    links.push_back(machine.linkAlong(axis));
}

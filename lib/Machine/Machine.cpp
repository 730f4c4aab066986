//===- Machine.cpp - Figures by name, and presets -------------------------===//
#include "shardc/Machine/Machine.h"
#include <charconv>
#include <cmath>

using namespace shardc;

const Link &Machine::linkAlong(std::string_view axis) const {
  auto found = axes.find(axis);
  return found == axes.end() ? link : found->second;
}

//===----------------------------------------------------------------------===//
// Figures by name
//===----------------------------------------------------------------------===//

namespace {
template <typename Owner> struct Member {
  Figure figure;
  double Owner::*value;
};
} // namespace

static const Member<Machine> kFigures[] = {
    {{"flops", Unit::OperationsPerSecond,
      "Operations on f32 that a rank does in a second."},
     &Machine::flops},
    {{"memory_bandwidth", Unit::BytesPerSecond,
      "What a rank reads from its memory in a second."},
     &Machine::memoryBandwidth},
    {{"first_cache", Unit::Bytes,
      "A core's cache of data that is next to its registers."},
     &Machine::firstCacheBytes},
    {{"cache", Unit::Bytes, "The cache that one core has for itself."},
     &Machine::cacheBytes},
    {{"shared_cache", Unit::Bytes,
      "A core's part of the cache that cores share."},
     &Machine::sharedCacheBytes},
    {{"fork", Unit::Seconds,
      "Until the threads of a rank have begun a loop that they share."},
     &Machine::forkSeconds},
    {{"launch", Unit::Seconds,
      "Of a GPU: from one small kernel to the next, in a graph."},
     &Machine::launchSeconds},
    {{"multiprocessors", Unit::Count,
      "Multiprocessors of a GPU: as many blocks keep it busy."},
     &Machine::multiprocessors},
    {{"tensor_flops", Unit::OperationsPerSecond,
      "Operations on 16-bit floats that a GPU's warps do in a second on its "
      "tensor cores."},
     &Machine::tensorFlops},
    {{"shared_memory_bandwidth", Unit::BytesPerSecond,
      "What all multiprocessors of a GPU read from their shared memory in a "
      "second."},
     &Machine::sharedBandwidth},
    {{"shared_cache_bandwidth", Unit::BytesPerSecond,
      "What all multiprocessors of a GPU read from the second-level cache in "
      "a second."},
     &Machine::level2Bandwidth},
    {{"cache_line", Unit::Bytes,
      "What comes from memory with each element that is read."},
     &Machine::lineBytes},
};

static const Member<Link> kLinkFigures[] = {
    {{"bandwidth", Unit::BytesPerSecond,
      "What arrives at one rank in a second."},
     &Link::bandwidth},
    {{"latency", Unit::Seconds,
      "A synchronisation of the ranks, whatever travels."},
     &Link::latency},
};

template <typename Owner, size_t N>
static std::vector<Figure> figuresOf(const Member<Owner> (&members)[N]) {
  std::vector<Figure> figures;
  for (const Member<Owner> &member : members)
    figures.push_back(member.figure);
  return figures;
}

const std::vector<Figure> &shardc::machineFigures() {
  static const std::vector<Figure> figures = figuresOf(kFigures);
  return figures;
}

const std::vector<Figure> &shardc::linkFigures() {
  static const std::vector<Figure> figures = figuresOf(kLinkFigures);
  return figures;
}

template <typename Owner, size_t N>
static const Member<Owner> *findMember(const Member<Owner> (&members)[N],
                                       std::string_view name) {
  for (const Member<Owner> &member : members)
    if (member.figure.name == name)
      return &member;
  return nullptr;
}

/// "axes.x.latency" as the axis "x" and the figure "latency"; "link.latency" as
/// no axis and "latency". False for what is no figure of a link.
static bool splitLinkName(std::string_view name,
                          std::optional<std::string_view> &axis,
                          std::string_view &figure) {
  size_t dot = name.rfind('.');
  if (dot == name.npos)
    return false;
  figure = name.substr(dot + 1);
  std::string_view owner = name.substr(0, dot);
  if (owner == "link") {
    axis.reset();
    return true;
  }
  constexpr std::string_view kAxes = "axes.";
  if (!owner.starts_with(kAxes) || owner.size() == kAxes.size())
    return false;
  axis = owner.substr(kAxes.size());
  return true;
}

/// The shortest text that is read as the same number.
static std::string printNumber(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::optional<double> shardc::getFigure(const Machine &machine,
                                        std::string_view name) {
  if (const Member<Machine> *member = findMember(kFigures, name))
    return machine.*member->value;
  std::optional<std::string_view> axis;
  std::string_view figure;
  if (!splitLinkName(name, axis, figure))
    return std::nullopt;
  const Member<Link> *member = findMember(kLinkFigures, figure);
  if (!member)
    return std::nullopt;
  return (axis ? machine.linkAlong(*axis) : machine.link).*member->value;
}

/// The unit of the figure `name`; empty if it is none.
static std::optional<Unit> unitOf(std::string_view name) {
  if (const Member<Machine> *member = findMember(kFigures, name))
    return member->figure.unit;
  std::optional<std::string_view> axis;
  std::string_view figure;
  const Member<Link> *member = splitLinkName(name, axis, figure)
                                   ? findMember(kLinkFigures, figure)
                                   : nullptr;
  return member ? std::optional(member->figure.unit) : std::nullopt;
}

static std::string unknownFigure(std::string_view name) {
  std::string problem =
      "unknown figure '" + std::string(name) + "', expected one of ";
  for (const Figure &known : machineFigures())
    problem += std::string(known.name) + ", ";
  return problem + "link.bandwidth, link.latency, or axes.AXIS.bandwidth and "
                   "axes.AXIS.latency";
}

std::string shardc::setFigure(Machine &machine, std::string_view name,
                              double value) {
  std::optional<Unit> unit = unitOf(name);
  if (!unit)
    return unknownFigure(name);
  bool mayBeZero = unit == Unit::Seconds;
  if (!std::isfinite(value) || value < 0 || (value == 0 && !mayBeZero))
    return "figure '" + std::string(name) + "' is " + printNumber(value) +
           ", expected a finite number " +
           (mayBeZero ? "of at least zero" : "above zero");
  if (const Member<Machine> *member = findMember(kFigures, name)) {
    machine.*member->value = value;
    return {};
  }
  std::optional<std::string_view> axis;
  std::string_view figure;
  splitLinkName(name, axis, figure);
  Link &link = axis ? machine.axes.try_emplace(std::string(*axis), machine.link)
                          .first->second
                    : machine.link;
  link.*findMember(kLinkFigures, figure)->value = value;
  return {};
}

std::string shardc::setFigure(Machine &machine, std::string_view name,
                              std::string_view quantity) {
  std::optional<Unit> unit = unitOf(name);
  if (!unit)
    return unknownFigure(name);
  double value = 0;
  if (std::string problem = readQuantity(quantity, *unit, value);
      !problem.empty())
    return "figure '" + std::string(name) + "' is " + problem;
  return setFigure(machine, name, value);
}

std::vector<std::string> shardc::changedFigures(const Machine &machine) {
  std::optional<Machine> preset = machinePreset(machine.name);
  std::vector<std::string> names, changed;
  for (const Figure &figure : machineFigures())
    names.emplace_back(figure.name);
  for (const Figure &figure : linkFigures())
    names.push_back("link." + std::string(figure.name));
  for (const std::string &name : names)
    if (!preset || getFigure(machine, name) != getFigure(*preset, name))
      changed.push_back(name);
  for (const auto &[axis, link] : machine.axes)
    for (const Figure &figure : linkFigures())
      changed.push_back("axes." + axis + "." + std::string(figure.name));
  return changed;
}

//===----------------------------------------------------------------------===//
// As text
//===----------------------------------------------------------------------===//

static std::string_view takeEntry(std::string_view &rest) {
  std::string_view entry = rest.substr(0, rest.find(','));
  rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  return entry;
}

std::string shardc::parseMachine(std::string_view text, Machine &machine) {
  std::string_view name = takeEntry(text);
  std::optional<Machine> preset = machinePreset(name);
  if (!preset) {
    std::string problem =
        "unknown machine '" + std::string(name) + "', expected ";
    for (std::string_view known : machinePresets())
      problem += std::string(known) + ", ";
    return problem + "and then figures that differ, such as " +
           std::string(kDefaultMachine) + ",link.bandwidth=1GB/s";
  }
  machine = *preset;
  while (!text.empty()) {
    std::string_view entry = takeEntry(text);
    size_t equals = entry.find('=');
    if (equals == entry.npos)
      return "'" + std::string(entry) +
             "' has no value, expected a figure such as link.bandwidth=1GB/s";
    if (std::string problem = setFigure(machine, entry.substr(0, equals),
                                        entry.substr(equals + 1));
        !problem.empty())
      return problem;
  }
  return {};
}

std::string shardc::printMachine(const Machine &machine) {
  std::string text = machine.name;
  for (const std::string &name : changedFigures(machine))
    text += "," + name + "=" + printNumber(*getFigure(machine, name));
  return text;
}

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

namespace {
/// What a GPU does in a cycle.
struct Cycle {
  double clock;  ///< cycles a second
  double tensor; ///< of a multiprocessor: 16-bit operations by mma.sync
  double shared; ///< of a multiprocessor: bytes of its shared memory
  double level2; ///< bytes that all get from the second-level cache
};
} // namespace

static void setRates(Machine &machine, const Cycle &cycle) {
  double cycles = cycle.clock * machine.multiprocessors;
  machine.tensorFlops = cycle.tensor * cycles;
  machine.sharedBandwidth = cycle.shared * cycles;
  machine.level2Bandwidth = cycle.level2 * cycle.clock;
}

/// Ranks that share a host of a few years ago, a core each; and a GPU of its
/// time, with an A100's multiprocessors. A core's part of the last cache is
/// that of EPYC (16 MiB by four cores, or 32 by eight: all of it only where the
/// others are idle); Xeons have 1.4 to 1.9 MiB a core.
static Machine generic() {
  Machine machine;
  machine.name = kDefaultMachine;
  machine.flops = 1e11;
  machine.memoryBandwidth = 2e10;
  machine.firstCacheBytes = 32 << 10;
  machine.cacheBytes = 1 << 20;
  machine.sharedCacheBytes = 4 << 20;
  machine.forkSeconds = 1e-5;
  machine.launchSeconds = 1.5e-6;
  machine.multiprocessors = 128;
  setRates(machine, {1.41e9, 2048, 128, 6068});
  machine.lineBytes = 64;
  machine.link = {5e9, 2e-5};
  return machine;
}

/// Hosts of many cores, joined by 100 Gbit/s Ethernet or InfiniBand: one rank a
/// host, 32 cores of 3 GHz with two 512-bit FMA units.
static Machine cluster() {
  Machine machine = generic();
  machine.name = "cluster";
  machine.flops = 2e12;
  machine.memoryBandwidth = 1.5e11;
  machine.cacheBytes = 2 << 20;
  machine.link = {1.2e10, 5e-6};
  return machine;
}

/// A GPU by its maker's data sheet: f32 of its vector units, memory,
/// second-level cache, and NVLink in one direction. What it does in a cycle is
/// docs/Reference/gpu-performance.md's, with its sources; the launch is as
/// well.
static Machine gpu(std::string_view name, double flops, double memoryBandwidth,
                   double sharedCache, double multiprocessors, double link,
                   double launch, const Cycle &cycle) {
  Machine machine = generic();
  machine.name = name;
  machine.flops = flops;
  machine.memoryBandwidth = memoryBandwidth;
  machine.sharedCacheBytes = sharedCache;
  machine.launchSeconds = launch;
  machine.multiprocessors = multiprocessors;
  setRates(machine, cycle);
  machine.link = {link, 1e-5};
  return machine;
}

static const std::vector<Machine> &presets() {
  static const std::vector<Machine> machines = {
      generic(),
      cluster(),
      // NVIDIA A100 SXM 80 GB.
      gpu("a100", 19.5e12, 2.039e12, 40 << 20, 108, 3e11, 1.5e-6,
          {1.41e9, 2048, 128, 5120}),
      // NVIDIA H100 SXM 80 GB.
      gpu("h100", 67e12, 3.35e12, 50 << 20, 132, 4.5e11, 1.3e-6,
          {1.83e9, 2540, 128, 5120}),
      // NVIDIA B200: of one GPU of an HGX B200.
      gpu("b200", 75e12, 7.7e12, 126 << 20, 148, 9e11, 1.3e-6,
          {1.85e9, 2540, 128, 10240}),
  };
  return machines;
}

std::optional<Machine> shardc::machinePreset(std::string_view name) {
  for (const Machine &machine : presets())
    if (machine.name == name)
      return machine;
  return std::nullopt;
}

std::vector<std::string_view> shardc::machinePresets() {
  std::vector<std::string_view> names;
  for (const Machine &machine : presets())
    names.push_back(machine.name);
  return names;
}

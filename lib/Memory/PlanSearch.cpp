//===- PlanSearch.cpp - What is held, what is made again ------------------===//
//
// Values are given up one at a time, where memory is fullest: of all that only
// wait there, the one whose repetition costs least for the bytes that it frees.
//
//===----------------------------------------------------------------------===//
#include "shardc/Memory/Plan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>

using namespace shardc::memory;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Operations that a byte is worth at most, where the search ends. A program
/// has fewer for each of its bytes. [limit]
static constexpr double kHighestPrice = 1 << 20;

/// Arithmetic that may be added, in parts of the program's own: a limit of the
/// search, not a price [limit]. Beyond that, what is given up at one place
/// comes back at another.
static constexpr double kMostAdded = 8;

//===----------------------------------------------------------------------===//
// Giving up a value
//===----------------------------------------------------------------------===//

bool Planner::isRepeatable(const PlanOp &op) const {
  return op.repeat == Repeat::Freely ||
         (means.communication && op.repeat == Repeat::Communicates);
}

bool Planner::isUnderWay(int64_t value, int64_t place) const {
  return llvm::any_of(users[value], [&](int64_t user) {
    int64_t begun = program.ops[user].begun;
    return begun >= 0 && placeOf[groupOf[begun]] < place &&
           placeOf[groupOf[user]] > place &&
           llvm::is_contained(users[value], begun);
  });
}

int64_t Planner::madeIn(int64_t value, int64_t group) const {
  for (int64_t copy : copies[program.values[value].base]) {
    int64_t producer = program.values[copy].producer;
    if (producer >= 0 && producer < static_cast<int64_t>(groupOf.size()) &&
        groupOf[producer] == group)
      return copy;
  }
  return -1;
}

int64_t Planner::available(int64_t value, int64_t place,
                           int64_t without) const {
  int64_t best = -1;
  for (int64_t copy : copies[program.values[value].base]) {
    if (program.values[copy].producer < 0)
      return copy;
    if (copy == without || spans[copy].first < 0 ||
        spans[copy].first >= place || spans[copy].last < place)
      continue;
    if (best < 0 || spans[copy].first > spans[best].first)
      best = copy;
  }
  return best;
}

int64_t Planner::latest(int64_t value, int64_t place, int64_t without) const {
  int64_t best = -1;
  for (int64_t copy : copies[program.values[value].base])
    if (copy != without && spans[copy].first >= 0 &&
        spans[copy].first < place &&
        (best < 0 || spans[copy].first > spans[best].first))
      best = copy;
  return best;
}

bool Planner::require(int64_t value, bool byRows, Request where, int64_t peak,
                      Removal &removal) const {
  const PlanValue &needed = program.values[value];
  if (needed.producer < 0)
    return true;
  if (!where.isBefore && byRows && needed.hasRows &&
      madeIn(value, where.group) >= 0)
    return true;
  const PlanOp &producer = program.ops[needed.producer];
  auto isAsked = [&](bool before) {
    return removal.asked.contains(
        keyOf({needed.producer, where.group, before}));
  };
  if (isAsked(true) ||
      (!where.isBefore && byRows && needed.hasRows && isAsked(false)))
    return true;
  // Each group has its own of what is free on its rows.
  bool isFree = producer.isFree && byRows && needed.hasRows &&
                producer.space == program.groups[where.group].space;
  bool inside = !where.isBefore && byRows && needed.hasRows &&
                producer.space == program.groups[where.group].space;
  Request again{needed.producer, where.group, !inside};
  int64_t place = placeOf[where.group];
  if (!isFree || where.isBefore)
    if (available(value, place, removal.value) >= 0)
      return true;
  // Repeated if that costs less than the bytes of holding it for longer are
  // worth.
  int64_t held =
      isFree && !where.isBefore ? -1 : latest(value, place, removal.value);
  if ((isRepeatable(producer) || isFree) &&
      !removal.dear.contains(keyOf(again))) {
    auto [freed, cost, requests, holds] =
        std::tuple(removal.freed, removal.cost, removal.requests.size(),
                   removal.holds.size());
    if (request(again, peak, removal) && removal.freed > 0 &&
        (held < 0 || needed.bytes == 0 ||
         removal.cost - cost <= price * double(needed.bytes)))
      return true;
    // Paths share nodes: each is looked into once.
    removal.dear.insert(keyOf(again));
    removal.freed = freed;
    removal.cost = cost;
    for (const Request &undone :
         llvm::ArrayRef(removal.requests).drop_front(requests))
      removal.asked.erase(keyOf(undone));
    removal.requests.truncate(requests);
    removal.holds.truncate(holds);
  }
  if (held < 0)
    return false;
  if (spans[held].last < peak && spans[held].first <= peak &&
      !llvm::is_contained(removal.holds, held)) {
    removal.holds.push_back(held);
    removal.freed -= needed.bytes;
  }
  return removal.freed > 0;
}

bool Planner::request(Request what, int64_t peak, Removal &removal) const {
  const PlanOp &op = program.ops[what.op];
  removal.cost += op.cost;
  // Many ops for one value are not worth it, and paths share nodes.
  if (removal.requests.size() > 1000 || removal.refused.contains(keyOf(what)))
    return false;
  for (const PlanUse &use : op.operands)
    if (!require(use.value, use.byRows, what, peak, removal)) {
      removal.refused.insert(keyOf(what));
      return false;
    }
  removal.requests.push_back(what);
  removal.asked.insert(keyOf(what));
  return true;
}

Planner::Removal Planner::consider(int64_t value, int64_t peak) const {
  const PlanValue &held = program.values[value];
  const PlanOp &producer = program.ops[held.producer];
  Removal removal;
  removal.value = value;
  removal.freed = held.bytes;
  // What a loop makes row by row can be gone when it ends.
  if (spans[value].first == peak &&
      !(held.hasRows && program.groups[groupOf[held.producer]].isLoop))
    return {};
  if (isUnderWay(value, peak))
    return {};
  std::vector<int64_t> places;
  for (int64_t user : users[value])
    if (placeOf[groupOf[user]] >= peak &&
        groupOf[user] != groupOf[held.producer])
      places.push_back(placeOf[groupOf[user]]);
  llvm::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (int64_t place : places) {
    int64_t number = program.order[place];
    const PlanGroup &group = program.groups[number];
    bool inside =
        held.hasRows && group.isLoop && group.space == producer.space &&
        llvm::all_of(users[value], [&](int64_t user) {
          return groupOf[user] != number ||
                 llvm::all_of(program.ops[user].operands,
                              [&](const PlanUse &use) {
                                return use.value != value || use.byRows;
                              });
        });
    // What is read here, other than by rows, is needed here.
    if (place == peak && !inside)
      return {};
    // What was made again in front of one group, and is made again in front of
    // the next, has only moved: that would go on for ever.
    if (spans[value].first == peak && !inside && held.base != value)
      return {};
    if (!request({held.producer, number, !inside}, peak, removal) ||
        removal.freed <= 0)
      return {};
    if (!inside)
      break; // what is made here serves all later uses
  }
  return removal;
}

int64_t Planner::copyOp(int64_t number, int64_t group, int64_t place,
                        int64_t without, ArrayRef<int64_t> early,
                        ArrayRef<int64_t> inside) {
  PlanOp copy = program.ops[number];
  auto copyAmong = [&](ArrayRef<int64_t> list, int64_t base) {
    for (int64_t op : list)
      for (int64_t result : program.ops[op].results)
        if (program.values[result].base == base)
          return result;
    return int64_t(-1);
  };
  for (PlanUse &use : copy.operands) {
    int64_t base = program.values[use.value].base, found = -1;
    // Of what the group itself makes, only rows are there in time.
    if (use.byRows && program.values[use.value].hasRows) {
      found = copyAmong(inside, base);
      if (found < 0 && group >= 0)
        found = madeIn(use.value, group);
    }
    if (found < 0)
      found = copyAmong(early, base);
    if (found < 0)
      found = available(use.value, place, without);
    if (found < 0)
      found = latest(use.value, place, without); // held for longer
    if (found >= 0)
      use.value = found;
  }
  SmallVector<int64_t, 1> results;
  for (int64_t result : copy.results) {
    PlanValue value = program.values[result];
    int64_t number = program.addValue(value.bytes, value.hasRows);
    program.values[number].base = value.base;
    results.push_back(number);
  }
  copy.results = results;
  copy.repetition = repetition;
  return program.addOp(std::move(copy));
}

void Planner::carryOut(const Removal &removal) {
  // By group that gets something, in the order in which they run.
  std::vector<int64_t> targets;
  for (const Request &request : removal.requests)
    if (!llvm::is_contained(targets, request.group))
      targets.push_back(request.group);
  llvm::sort(targets,
             [&](int64_t a, int64_t b) { return placeOf[a] < placeOf[b]; });
  int64_t base = program.values[removal.value].base;
  for (int64_t target : targets) {
    int64_t place = placeOf[target];
    // Made before the group first, since what is made inside may read it.
    std::vector<int64_t> early, inside;
    ++repetition;
    for (bool isBefore : {true, false})
      for (const Request &request : removal.requests) {
        if (request.group != target || request.isBefore != isBefore)
          continue;
        int64_t copy =
            isBefore ? copyOp(request.op, -1, place, removal.value, early, {})
                     : copyOp(request.op, target, place, removal.value, early,
                              inside);
        (isBefore ? early : inside).push_back(copy);
        result.addedCost += program.ops[copy].cost;
        ++result.repeated;
      }
    int64_t made = -1;
    for (ArrayRef<int64_t> list : {ArrayRef(early), ArrayRef(inside)})
      for (int64_t op : list)
        for (int64_t value : program.ops[op].results)
          if (program.values[value].base == base)
            made = value;
    bool insideMade =
        made >= 0 && llvm::is_contained(inside, program.values[made].producer);
    if (made >= 0)
      for (int64_t user : users[removal.value]) {
        int64_t at = placeOf[groupOf[user]];
        if (groupOf[user] == groupOf[program.values[removal.value].producer] ||
            (insideMade ? at != place : at < place))
          continue;
        for (PlanUse &use : program.ops[user].operands)
          if (use.value == removal.value)
            use.value = made;
      }
    if (!inside.empty()) {
      llvm::append_range(program.groups[target].ops, inside);
      sortGroup(program.groups[target]);
    }
    // What is made before runs in groups of its own.
    std::vector<int64_t> added;
    for (int64_t op : early) {
      const PlanOp &info = program.ops[op];
      bool joins = !added.empty() && info.space >= 0 &&
                   program.groups[added.back()].space == info.space;
      if (joins)
        for (const PlanUse &use : info.operands) {
          int64_t producer = program.values[use.value].producer;
          if (producer >= 0 &&
              llvm::is_contained(program.groups[added.back()].ops, producer))
            joins &= use.byRows && program.values[use.value].hasRows;
        }
      if (!joins) {
        added.push_back(program.groups.size());
        program.groups.emplace_back().space = info.space;
      }
      program.groups[added.back()].ops.push_back(op);
    }
    program.order.insert(llvm::find(program.order, target), added.begin(),
                         added.end());
  }
}

/// Gives up values that live at `peak` and cost no more than `price` for a
/// byte, for `tooMuch` bytes if it can, the cheapest first. False if there is
/// none.
bool Planner::giveUpSome(int64_t peak, int64_t tooMuch) {
  struct Choice {
    int64_t value;
    double price;
    int64_t freed;
  };
  std::vector<Choice> choices;
  for (int64_t value : liveAt(peak)) {
    if (!isRepeatable(program.ops[program.values[value].producer]) ||
        kept.contains(value))
      continue;
    Removal removal = consider(value, peak);
    if (!removal.requests.empty() && removal.freed > 0 &&
        removal.cost <= price * double(removal.freed))
      choices.push_back(
          {value, removal.cost / double(removal.freed), removal.freed});
  }
  llvm::stable_sort(choices, [](const Choice &a, const Choice &b) {
    return std::pair(a.price, -a.freed) < std::pair(b.price, -b.freed);
  });
  bool any = false;
  for (const Choice &choice : choices) {
    if (tooMuch <= 0 || result.addedCost > mostAdded * result.cost)
      break;
    // Those before may have changed what it costs.
    if (spans[choice.value].first < 0 || spans[choice.value].first > peak ||
        spans[choice.value].last < peak || isInternal(choice.value))
      continue;
    Removal removal = consider(choice.value, peak);
    if (removal.requests.empty() || removal.freed <= 0 ||
        removal.cost > price * double(removal.freed))
      continue;
    int64_t here = program.order[peak];
    if (!carryOutIfLess(removal))
      continue;
    peak = placeOf[here];
    any = true;
    tooMuch -= removal.freed;
  }
  return any;
}

bool Planner::carryOutIfLess(const Removal &removal) {
  auto excessOf = [&](int64_t bytes) {
    return double(std::max<int64_t>(bytes - limit, 0));
  };
  std::vector<int64_t> bytes;
  std::vector<double> excess(program.groups.size(), -1); // by group
  if (isCareful) {
    bytes = bytesByPlace();
    for (auto [place, group] : llvm::enumerate(program.order))
      excess[group] = excessOf(bytes[place]);
    spare = program;
  }
  Summary before = result;
  int64_t repetitionBefore = repetition;
  carryOut(removal);
  refresh();
  if (!isCareful)
    return true;
  formLoops();
  bytes = bytesByPlace();
  // What is new counts as far as it is more than what it is before.
  double change = 0, next = 0;
  for (int64_t place = program.order.size() - 1; place >= 0; --place) {
    int64_t group = program.order[place];
    double now = excessOf(bytes[place]);
    bool isNew = group >= static_cast<int64_t>(excess.size());
    if (!isNew)
      next = excess[group];
    change += isNew ? std::max(now - next, 0.0) : now - next;
  }
  if (change < 0)
    return true;
  program = spare;
  result = before;
  repetition = repetitionBefore;
  refresh();
  return false;
}

void Planner::formLoops() {
  if (!means.loops)
    return;
  chooseLoops();
  giveFreeOps();
}

bool Planner::fit(int64_t limit, PlanMeans means) {
  this->limit = limit;
  this->means = means;
  Program before = program;
  Program best;
  Summary bestResult;
  bool fits = false;
  mostAdded = kMostAdded;
  auto attempt = [&] {
    program = before;
    bool fitsNow = fitOnce();
    bool isBetter = fitsNow
                        ? !fits || result.addedCost < bestResult.addedCost
                        : !fits && (best.ops.empty() ||
                                    result.peakAfter < bestResult.peakAfter);
    if (!isBetter)
      return;
    best = std::move(program);
    bestResult = result;
    fits |= fitsNow;
    if (fits)
      mostAdded = result.addedCost / std::max(result.cost, 1.0);
  };
  isCareful = false;
  attempt();
  std::vector<int64_t> chain = findChain(before);
  for (size_t stride = 2; !chain.empty() && stride <= chain.size(); ++stride) {
    kept.clear();
    int64_t bytes = 0;
    for (size_t i = stride - 1; i < chain.size(); i += stride) {
      kept.insert(chain[i]);
      bytes += before.values[chain[i]].bytes;
    }
    if (bytes < limit)
      for (bool careful : {false, true}) {
        isCareful = careful;
        attempt();
      }
  }
  kept.clear();
  // Where no step is an improvement in itself, several of them may be one.
  isCareful = true;
  attempt();
  program = std::move(best);
  result = bestResult;
  refresh();
  return fits;
}

std::vector<int64_t> Planner::findChain(const Program &before) {
  program = before;
  isCareful = false;
  int64_t wanted = std::exchange(limit, 2 * limit);
  fitOnce();
  limit = wanted;
  std::vector<int64_t> bytes = bytesByPlace();
  if (bytes.empty())
    return {};
  struct Class {
    int64_t total = 0;
    std::vector<int64_t> members;
  };
  std::map<std::tuple<int64_t, int64_t, double>, Class> classes;
  for (int64_t value :
       liveAt(std::max_element(bytes.begin(), bytes.end()) - bytes.begin())) {
    const PlanValue &info = program.values[value];
    const PlanOp &op = program.ops[info.producer];
    if (info.base != value || !isRepeatable(op))
      continue;
    Class &alike = classes[{info.bytes, op.space, op.cost}];
    alike.total += info.bytes;
    alike.members.push_back(value);
  }
  std::vector<int64_t> chain;
  int64_t most = 0;
  for (auto &[key, alike] : classes)
    if (alike.members.size() >= 4 && alike.total > most) {
      most = alike.total;
      chain = alike.members;
    }
  llvm::sort(chain, [&](int64_t a, int64_t b) {
    return spans[a].first < spans[b].first;
  });
  return chain;
}

bool Planner::fitOnce() {
  refresh();
  repetition = 1; // of what is free
  price = 1;
  result = {};
  for (const PlanOp &op : program.ops)
    result.cost += op.cost;
  auto peakOf = [](const std::vector<int64_t> &bytes) {
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  };
  blockBytes = 0;
  result.peakBefore = result.peakAfter = peakOf(bytesByPlace());
  if (result.peakBefore <= limit)
    return true;
  blockBytes = blockBytesFor(limit);
  formLoops();
  bool fits = false;
  while (result.addedCost <= mostAdded * result.cost) {
    std::vector<int64_t> bytes = bytesByPlace();
    if (peakOf(bytes) <= limit) {
      fits = true;
      break;
    }
    auto peak = std::max_element(bytes.begin(), bytes.end());
    if (!giveUpSome(peak - bytes.begin(), *peak - limit)) {
      price *= 2;
      if (price > kHighestPrice)
        break;
    }
    formLoops();
  }
  result.peakAfter = peakOf(bytesByPlace());
  for (int64_t group : program.order)
    result.loops +=
        program.groups[group].isLoop && program.groups[group].ops.size() > 1;
  return fits;
}

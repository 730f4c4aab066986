//===- Plan.cpp - What a plan of memory is about --------------------------===//
//
// A program as plain data: its ops in groups, in order, the loops over rows
// that some of them make, and what is held at each of their places.
//
//===----------------------------------------------------------------------===//
#include "shardc/Memory/Plan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace shardc::memory;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Most of a block of rows in which ranks communicate, which waits for them
/// once an iteration: of larger blocks the wait is no part of their time on any
/// link that joins ranks, and they only take memory. [limit]
static constexpr int64_t kMostBlock = 64 << 20;

int64_t shardc::memory::blockBytesFor(int64_t limit) {
  return std::clamp<int64_t>(limit / 16, 1, kMostBlock);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

int64_t Program::addValue(int64_t bytes, bool hasRows) {
  int64_t number = values.size();
  values.push_back({bytes, -1, number, hasRows});
  return number;
}

int64_t Program::addOp(PlanOp op) {
  int64_t number = ops.size();
  if (op.source < 0)
    op.source = number;
  for (int64_t result : op.results)
    values[result].producer = number;
  ops.push_back(std::move(op));
  return number;
}

void Program::formGroups() {
  groups.clear();
  order.clear();
  std::vector<int64_t> groupOf(ops.size(), -1);
  std::vector<std::vector<int64_t>> before; // groups that a group needs
  llvm::DenseMap<int64_t, int64_t> latest;  // by space
  std::vector<int64_t> seen, work;
  int64_t search = 0;

  // Whether something in `work` needs `group`.
  auto leadsTo = [&](int64_t group) {
    ++search;
    seen.resize(groups.size(), 0);
    while (!work.empty()) {
      int64_t next = work.back();
      work.pop_back();
      if (next == group)
        return true;
      if (seen[next] == search)
        continue;
      seen[next] = search;
      llvm::append_range(work, before[next]);
    }
    return false;
  };

  for (auto [number, op] : llvm::enumerate(ops)) {
    SmallVector<int64_t> needed;
    for (const PlanUse &use : op.operands)
      if (int64_t producer = values[use.value].producer; producer >= 0)
        needed.push_back(groupOf[producer]);
    int64_t group = -1;
    if (op.space >= 0)
      if (auto known = latest.find(op.space); known != latest.end())
        group = known->second;
    if (group >= 0) {
      // In one iteration of a loop only its own rows are there.
      bool fits = llvm::all_of(op.operands, [&](const PlanUse &use) {
        int64_t producer = values[use.value].producer;
        return producer < 0 || groupOf[producer] != group ||
               (use.byRows && values[use.value].hasRows);
      });
      work.clear();
      for (int64_t other : needed)
        if (other != group)
          work.push_back(other);
      if (!fits || leadsTo(group))
        group = -1;
    }
    if (group < 0) {
      group = groups.size();
      groups.emplace_back().space = op.space;
      before.emplace_back();
      if (op.space >= 0)
        latest[op.space] = group;
    }
    groups[group].ops.push_back(number);
    groupOf[number] = group;
    for (int64_t other : needed)
      if (other != group && !llvm::is_contained(before[group], other))
        before[group].push_back(other);
  }

  // Each as early as the first of its ops, behind what it needs.
  std::vector<char> state(groups.size(), 0);
  for (int64_t first = 0, count = groups.size(); first < count; ++first) {
    work.assign(1, first);
    while (!work.empty()) {
      int64_t group = work.back();
      if (state[group] == 2) {
        work.pop_back();
        continue;
      }
      if (state[group] == 1) {
        state[group] = 2;
        order.push_back(group);
        work.pop_back();
        continue;
      }
      state[group] = 1;
      for (int64_t other : before[group])
        if (state[other] == 0)
          work.push_back(other);
    }
  }
}

//===----------------------------------------------------------------------===//
// What lives when
//===----------------------------------------------------------------------===//

void Planner::refresh() {
  placeOf.assign(program.groups.size(), -1);
  groupOf.assign(program.ops.size(), -1);
  users.assign(program.values.size(), {});
  copies.assign(program.values.size(), {});
  spans.assign(program.values.size(), {});
  for (auto [place, group] : llvm::enumerate(program.order)) {
    placeOf[group] = place;
    for (int64_t op : program.groups[group].ops) {
      groupOf[op] = group;
      for (int64_t value : program.ops[op].results)
        spans[value].first = spans[value].last = place;
    }
  }
  for (int64_t group : program.order)
    for (int64_t op : program.groups[group].ops)
      for (const PlanUse &use : program.ops[op].operands) {
        users[use.value].push_back(op);
        Span &span = spans[use.value];
        span.last = std::max(span.last, placeOf[group]);
      }
  for (auto [number, value] : llvm::enumerate(program.values))
    copies[value.base].push_back(number);
}

bool Planner::isInternal(int64_t value) const {
  int64_t producer = program.values[value].producer;
  return producer >= 0 && program.groups[groupOf[producer]].isLoop &&
         spans[value].last == spans[value].first;
}

std::vector<int64_t> Planner::bytesByPlace() const {
  std::vector<int64_t> change(program.order.size() + 1, 0);
  // By place: what a loop reads by rows for the last time, and what it makes by
  // rows.
  llvm::DenseMap<int64_t, std::vector<int64_t>> dying, born;
  for (auto [number, value] : llvm::enumerate(program.values)) {
    if (value.bytes == 0 || value.producer < 0 || groupOf[value.producer] < 0 ||
        isInternal(number))
      continue;
    const Span &span = spans[number];
    change[span.first] += value.bytes;
    change[span.last + 1] -= value.bytes;
    if (!value.hasRows || span.first == span.last)
      continue;
    if (program.groups[program.order[span.first]].isLoop)
      born[span.first].push_back(value.bytes);
    const PlanGroup &last = program.groups[program.order[span.last]];
    int64_t space = program.ops[value.producer].space;
    if (last.isLoop && last.space == space &&
        llvm::all_of(users[number], [&](int64_t op) {
          return placeOf[groupOf[op]] != span.last ||
                 llvm::all_of(
                     program.ops[op].operands, [&](const PlanUse &use) {
                       return use.value != static_cast<int64_t>(number) ||
                              use.byRows;
                     });
        }))
      dying[span.last].push_back(value.bytes);
  }
  std::vector<int64_t> bytes(program.order.size(), 0);
  int64_t sum = 0;
  for (size_t place = 0; place < bytes.size(); ++place) {
    sum += change[place];
    bytes[place] = sum;
    const PlanGroup &group = program.groups[program.order[place]];
    if (!group.isLoop || group.ops.size() < 2)
      continue;
    bytes[place] += blockBytes;
    // A row that was read makes room for one that is written.
    auto ends = dying.find(place), begins = born.find(place);
    if (ends == dying.end() || begins == born.end())
      continue;
    for (int64_t size : ends->second)
      if (auto match = llvm::find(begins->second, size);
          match != begins->second.end()) {
        bytes[place] -= size;
        begins->second.erase(match);
      }
  }
  return bytes;
}

std::vector<int64_t> Planner::liveAt(int64_t place) const {
  std::vector<int64_t> live;
  for (auto [number, value] : llvm::enumerate(program.values))
    if (value.bytes > 0 && value.producer >= 0 &&
        groupOf[value.producer] >= 0 && spans[number].first <= place &&
        place <= spans[number].last && !isInternal(number))
      live.push_back(number);
  llvm::stable_sort(live, [&](int64_t a, int64_t b) {
    return program.values[a].bytes > program.values[b].bytes;
  });
  return live;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Planner::chooseLoops() {
  for (int64_t number : program.order) {
    PlanGroup &group = program.groups[number];
    if (group.space < 0 || group.isLoop)
      continue;
    // One op alone becomes one when what it reads is made again beside it.
    int64_t rows = 0;
    auto count = [&](int64_t value) {
      if (program.values[value].hasRows)
        rows += program.values[value].bytes;
    };
    for (int64_t op : group.ops) {
      llvm::for_each(program.ops[op].results, count);
      for (const PlanUse &use : program.ops[op].operands)
        if (use.byRows)
          count(use.value);
    }
    group.isLoop = rows > blockBytes;
  }
}

void Planner::sortGroup(PlanGroup &group) {
  llvm::DenseMap<int64_t, int64_t> makes; // value to op of the group
  for (int64_t op : group.ops)
    for (int64_t value : program.ops[op].results)
      makes[value] = op;
  std::vector<int64_t> sorted, work;
  llvm::DenseMap<int64_t, int> state;
  for (int64_t first : group.ops) {
    work.assign(1, first);
    while (!work.empty()) {
      int64_t op = work.back();
      int &known = state[op];
      if (known != 0) {
        work.pop_back();
        if (known == 1) {
          known = 2;
          sorted.push_back(op);
        }
        continue;
      }
      known = 1;
      for (const PlanUse &use : program.ops[op].operands)
        if (auto maker = makes.find(use.value);
            maker != makes.end() && state.lookup(maker->second) == 0)
          work.push_back(maker->second);
    }
  }
  group.ops = std::move(sorted);
}

/// What is free is not carried into or out of a loop.
void Planner::giveFreeOps() {
  for (bool changed = true; changed;) {
    changed = false;
    // Later groups first: what they copy may read what is free itself.
    for (int64_t place = program.order.size() - 1; place >= 0; --place) {
      int64_t number = program.order[place];
      std::vector<int64_t> fresh;
      bool isMixed = false;
      for (size_t i = 0; i < program.groups[number].ops.size(); ++i) {
        int64_t op = program.groups[number].ops[i];
        for (size_t j = 0; j < program.ops[op].operands.size(); ++j) {
          int64_t value = program.ops[op].operands[j].value,
                  producer = program.values[value].producer;
          if (producer < 0 || !program.ops[producer].isFree ||
              groupOf[producer] == number ||
              !program.ops[op].operands[j].byRows ||
              !program.values[value].hasRows)
            continue;
          if (program.ops[producer].space < 0 ||
              program.ops[producer].space != program.groups[number].space ||
              (!program.groups[number].isLoop &&
               !program.groups[groupOf[producer]].isLoop))
            continue;
          int64_t mine = madeIn(value, number);
          for (int64_t other : fresh)
            if (program.ops[other].source == program.ops[producer].source)
              for (int64_t result : program.ops[other].results)
                if (program.values[result].base == program.values[value].base)
                  mine = result;
          if (mine < 0) {
            int64_t copy = copyOp(producer, number, place, -1, {}, fresh);
            fresh.push_back(copy);
            program.groups[number].ops.push_back(copy);
            for (int64_t result : program.ops[copy].results)
              if (program.values[result].base == program.values[value].base)
                mine = result;
          }
          program.ops[op].operands[j].value = mine;
          changed = isMixed = true;
        }
      }
      if (isMixed)
        sortGroup(program.groups[number]);
    }
    if (changed)
      refresh();
  }
  dropUnread();
}

/// What nobody reads any more.
void Planner::dropUnread() {
  for (bool changed = true; changed;) {
    changed = false;
    for (PlanGroup &group : program.groups) {
      size_t before = group.ops.size();
      llvm::erase_if(group.ops, [&](int64_t op) {
        return !program.ops[op].results.empty() &&
               (program.ops[op].isFree ||
                program.ops[op].repeat != Repeat::Never) &&
               llvm::all_of(program.ops[op].results, [&](int64_t value) {
                 return users[value].empty();
               });
      });
      changed |= group.ops.size() != before;
    }
    llvm::erase_if(program.order, [&](int64_t group) {
      return program.groups[group].ops.empty();
    });
    refresh();
  }
}

bool Program::isOrdered() const {
  std::vector<int64_t> madeBy(values.size(), -1); // group
  for (int64_t number : order)
    for (int64_t op : groups[number].ops) {
      bool isBlocked = groups[number].isLoop && groups[number].ops.size() > 1;
      for (const PlanUse &use : ops[op].operands) {
        if (values[use.value].producer < 0)
          continue;
        if (madeBy[use.value] < 0 ||
            (madeBy[use.value] == number && isBlocked &&
             !(use.byRows && values[use.value].hasRows)))
          return false;
      }
      for (int64_t result : ops[op].results)
        madeBy[result] = number;
    }
  return true;
}

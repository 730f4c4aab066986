//===- SiteWords.h - Sites as flat words, written and read ------*- C++ -*-===//
//
// A table of sites as int64 words (shardc_sites), and their names as one blob
// of NUL-terminated strings (shardc_strings). Reading is bounds-checked: a
// damaged table gives an error, never a wrong access. Intervals that the table
// has already are referred to, not written again.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_SITEWORDS_H
#define SHARDRT_SITEWORDS_H

#include "shardrt/SiteFormat.h"
#include "shardrt/SiteRuns.h"
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardrt {
namespace detail {

/// Appends words and strings.
class SiteWriter {
public:
  explicit SiteWriter(EncodedSites &out) : out(out) {}

  template <typename T> void word(const char *, T &value) {
    out.words.push_back(static_cast<int64_t>(value));
  }
  void flag(const char *, bool &value) { out.words.push_back(value ? 1 : 0); }
  void text(const char *, std::string &value) {
    out.words.push_back(stringAt(value));
  }
  int64_t count(const char *, int64_t size, int64_t, int64_t = 1) {
    out.words.push_back(size);
    return size;
  }
  void list(const char *, std::vector<int64_t> &values, int64_t, const char *) {
    out.words.insert(out.words.end(), values.begin(), values.end());
  }
  void intervals(const char *, std::vector<shardc::Interval> &values, int64_t,
                 const std::vector<shardc::Interval> *base) {
    std::vector<int64_t> numbers;
    numbers.reserve(2 * values.size());
    for (shardc::Interval interval : values)
      numbers.insert(numbers.end(), {interval.begin, interval.end});
    auto [entry, isNew] = places.emplace(std::move(numbers), sizeOf(out.words));
    if (!isNew) {
      out.words.push_back(entry->second);
      return;
    }
    std::vector<IntervalRun> runs = runsOf(values, nullptr);
    bool isRelative = false;
    if (base && base->size() == values.size()) {
      std::vector<IntervalRun> others = runsOf(values, base);
      isRelative = others.size() < runs.size();
      if (isRelative)
        runs = std::move(others);
    }
    if (1 + wordsOfRun * sizeOf(runs) >= sizeOf(entry->first)) {
      out.words.push_back(0);
      out.words.insert(out.words.end(), entry->first.begin(),
                       entry->first.end());
      return;
    }
    out.words.push_back(-sizeOf(runs));
    out.words.push_back(isRelative ? 1 : 0);
    for (const IntervalRun &run : runs)
      out.words.insert(out.words.end(),
                       {run.entries, run.first.begin, run.first.end,
                        run.step.begin, run.step.end});
  }
  void texts(const char *, std::vector<std::string> &values, int64_t size,
             const char *) {
    values.resize(size);
    for (std::string &value : values)
      text("", value);
  }
  template <typename F> void check(const char *, F) {}
  void checkTotal(int64_t) {}
  template <typename List, typename F>
  void each(const char *, List &list, int64_t, F visit) {
    for (auto &element : list)
      visit(element);
  }
  bool section(const char *, bool holds) { return holds; }
  int64_t at(const std::vector<int64_t> &, int64_t) { return 0; }
  bool isDone() { return false; }

private:
  int64_t stringAt(std::string_view text) {
    if (text.empty())
      return -1;
    auto found = known.find(text);
    if (found != known.end())
      return found->second;
    int64_t offset = sizeOf(out.strings);
    out.strings.append(text.substr(0, text.find('\0')));
    out.strings.push_back('\0');
    known.emplace(std::string(text), offset);
    return offset;
  }

  EncodedSites &out;
  std::map<std::string, int64_t, std::less<>> known;
  /// The word that says how intervals are written.
  std::map<std::vector<int64_t>, int64_t> places;
};

/// Reads words that nobody vouches for. After the first thing that is wrong
/// every word is 0 and every list empty.
class SiteReader {
public:
  SiteReader(std::span<const int64_t> words, std::string_view strings,
             int64_t mostIntervals)
      : words(words), strings(strings), intervalsLeft(mostIntervals) {}

  std::string error;
  std::string where; ///< begins errors

  void seek(int64_t position) {
    if (position < 0 || position > sizeOf(words))
      failed = true;
    else
      next_ = position;
  }
  template <typename T> void word(const char *, T &value) {
    value = static_cast<T>(next());
  }
  void flag(const char *what, bool &value) {
    int64_t said = next();
    value = said == 1;
    if (said != 0 && said != 1)
      fail("says " + std::to_string(said) + ", expected " + what);
  }
  void text(const char *, std::string &value) { value = stringAt(next()); }
  int64_t count(const char *, int64_t, int64_t most, int64_t wordsEach = 1) {
    int64_t value = next();
    int64_t left = sizeOf(words) - next_;
    if (value < 0 || value > most ||
        (wordsEach > 0 && value > left / wordsEach)) {
      failed = true;
      return 0;
    }
    return isGood() ? value : 0;
  }
  void list(const char *, std::vector<int64_t> &values, int64_t size,
            const char *) {
    values.clear();
    for (int64_t i = 0; i < size && isGood(); ++i)
      values.push_back(next());
  }
  void intervals(const char *, std::vector<shardc::Interval> &values,
                 int64_t size, const std::vector<shardc::Interval> *base) {
    values.clear();
    int64_t place = next_, form = next();
    intervalsLeft -= size;
    if (intervalsLeft < 0)
      fail("too many intervals: no more than " + std::to_string(maxIntervals) +
           " are read for all sites");
    if (!isGood())
      return;
    if (form > 0) {
      auto found = known.find(form);
      if (found == known.end() || sizeOf(found->second) != size)
        fail("refers to word " + std::to_string(form) +
             ", at which no table of " + std::to_string(size) +
             " entries has been");
      else
        values = found->second;
      return;
    }
    values.reserve(size);
    if (form < 0)
      readRuns(values, size, form, base);
    else if (2 * size > sizeOf(words) - next_)
      failed = true;
    for (int64_t i = 0; i < size && form == 0 && isGood(); ++i) {
      int64_t begin = next();
      values.push_back({begin, next()});
    }
    if (isGood())
      known.emplace(place, values);
    else
      values.clear();
  }
  void texts(const char *, std::vector<std::string> &values, int64_t size,
             const char *) {
    values.clear();
    for (int64_t i = 0; i < size && isGood(); ++i)
      values.push_back(stringAt(next()));
  }
  template <typename F> void check(const char *ended, F what) {
    if (!error.empty())
      return;
    if (failed)
      return fail(ended);
    if (std::string why = what(); !why.empty())
      fail(why);
  }
  void checkTotal(int64_t total) {
    check("site table ends inside its header", [&]() -> std::string {
      if (total == sizeOf(words))
        return {};
      return "site table has " + std::to_string(words.size()) +
             " words, but its header says otherwise";
    });
  }
  template <typename List, typename F>
  void each(const char *, List &list, int64_t size, F visit) {
    list.clear();
    for (int64_t i = 0; i < size && isGood(); ++i)
      visit(list.emplace_back());
  }
  bool section(const char *, bool holds) { return isGood() && holds; }
  int64_t at(const std::vector<int64_t> &values, int64_t place) {
    return isGood() ? values[place] : 0;
  }
  bool isDone() { return !isGood(); }

private:
  /// Reads -`count` runs that make up `size` entries.
  void readRuns(std::vector<shardc::Interval> &values, int64_t size,
                int64_t count, const std::vector<shardc::Interval> *base) {
    int64_t isRelative = next();
    if (isRelative != 0 && (isRelative != 1 || !base))
      return fail("has runs that are relative to no table");
    std::vector<size_t> starts; // of runs since the last that were repeated
    for (; count < 0 && isGood(); ++count) {
      IntervalRun run;
      run.entries = next();
      run.first.begin = next(), run.first.end = next();
      run.step.begin = next(), run.step.end = next();
      if (!isGood())
        return;
      int64_t left = size - sizeOf(values);
      if (run.entries < 0) {
        readRepeats(values, starts, run, left);
        continue;
      }
      if (run.entries < 1 || run.entries > left)
        return fail("has a run of " + std::to_string(run.entries) +
                    " entries of " + std::to_string(left));
      starts.push_back(values.size());
      for (shardc::Interval value = run.first; run.entries > 0; --run.entries) {
        values.push_back(value);
        value = plus(value, run.step);
      }
    }
    for (size_t i = 0; isRelative && i < values.size(); ++i)
      values[i] = plus(values[i], (*base)[i]);
    if (isGood() && sizeOf(values) != size)
      fail("has runs of " + std::to_string(values.size()) + " entries, not " +
           std::to_string(size));
  }
  /// Appends what the last runs of `values` are, as `repeat` says; `left`
  /// entries are not there yet.
  void readRepeats(std::vector<shardc::Interval> &values,
                   std::vector<size_t> &starts, const IntervalRun &repeat,
                   int64_t left) {
    int64_t times = repeat.step.begin;
    if (repeat.entries < -sizeOf(starts))
      return fail("repeats more runs than the " +
                  std::to_string(starts.size()) + " before");
    size_t begin = starts.end()[repeat.entries], length = values.size() - begin;
    if (times < 1 || times > left / static_cast<int64_t>(length) ||
        repeat.step.end != 0)
      return fail("repeats " + std::to_string(length) + " entries " +
                  std::to_string(times) + " times, " + std::to_string(left) +
                  " are left");
    for (size_t i = begin, end = begin + times * length; i < end; ++i)
      values.push_back(plus(values[i], repeat.first));
    starts.clear();
  }
  bool isGood() const { return !failed && error.empty(); }
  void fail(const std::string &why) {
    if (error.empty())
      error = where + why;
  }
  int64_t next() {
    if (!isGood() || next_ >= sizeOf(words)) {
      failed = true;
      return 0;
    }
    return words[next_++];
  }
  std::string stringAt(int64_t offset) {
    if (offset == -1 || !isGood())
      return {};
    size_t end = offset < 0 || offset >= sizeOf(strings)
                     ? std::string_view::npos
                     : strings.find('\0', offset);
    if (end == std::string_view::npos) {
      fail("string at byte " + std::to_string(offset) +
           " is outside the string table of " + std::to_string(strings.size()) +
           " bytes");
      return {};
    }
    return std::string(strings.substr(offset, end - offset));
  }

  std::span<const int64_t> words;
  std::string_view strings;
  int64_t next_ = 0;
  int64_t intervalsLeft;
  /// Intervals that were read, by the word that says how they are written.
  std::map<int64_t, std::vector<shardc::Interval>> known;
  bool failed = false;
};

/// Says what stands where, as rows of a table.
class SiteDescriber {
public:
  std::string text_;

  template <typename T> void word(const char *what, T &) {
    row(place(), what);
    ++words;
  }
  void flag(const char *what, bool &) { row(place(), what), ++words; }
  void text(const char *what, std::string &) { row(place(), what), ++words; }
  int64_t count(const char *what, int64_t, int64_t, int64_t = 1) {
    row(place(), what);
    ++words;
    return 1;
  }
  template <typename List>
  void list(const char *what, List &, int64_t, const char *size) {
    row((after.empty() ? std::to_string(words) + " .. " : "..") + "+" + size,
        what);
    after = "..";
  }
  template <typename List>
  void intervals(const char *what, List &values, int64_t size,
                 const std::vector<shardc::Interval> *base) {
    row(place(), (std::string(what) +
                  ": 0, -r for r runs, or the word of the table at which this "
                  "is said of the same")
                     .c_str());
    ++words;
    list("if 0, begin and end of each entry", values, size, "2n");
    list(base ? "if r runs, 1 if what is owned is to be added, else 0"
              : "if r runs, 0",
         values, size, "1");
    list("of each run its entries, begin and end of the first, and by how much "
         "these grow from entry to entry; or -k, for the last k runs again: by "
         "how much begins and ends grow each time, how many times, and 0",
         values, size, "5r");
  }
  template <typename List>
  void texts(const char *what, List &values, int64_t size, const char *words) {
    list(what, values, size, words);
  }
  template <typename F> void check(const char *, F) {}
  void checkTotal(int64_t) {}
  template <typename List, typename F>
  void each(const char *title, List &list, int64_t, F visit) {
    section(title, true);
    list.resize(1);
    visit(list.front());
    words = 0;
    after = "..";
  }
  bool section(const char *title, bool) {
    row("", title);
    words = 0;
    after.clear();
    return true;
  }
  int64_t at(const std::vector<int64_t> &, int64_t) { return 0; }
  /// What an exchanged dim holds has been said.
  bool isDone() { return true; }

private:
  std::string place() { return after.empty() ? std::to_string(words) : "..+1"; }
  void row(const std::string &place, const char *what) {
    text_ += "| " + place + (place.empty() ? "| " : " | ") + what + " |\n";
  }

  int64_t words = 0;
  std::string after; ///< once a list came, places follow one another
};

} // namespace detail

/// Writes `table`; each site's exchange.meshShape is taken to be the table's.
inline EncodedSites encodeSites(SiteTable table) {
  EncodedSites out;
  detail::SiteWriter writer(out);
  int64_t magic = sitesMagic, version = sitesVersion, total = 0;
  std::vector<int64_t> starts(table.sites.size());
  detail::visitTable(writer, table, magic, version, total, starts);
  size_t firstStart = out.words.size() - starts.size();
  for (size_t i = 0; i < table.sites.size(); ++i) {
    out.words[firstStart + i] = detail::sizeOf(out.words);
    detail::visitSite(writer, table.sites[i], table);
  }
  out.words[2] = detail::sizeOf(out.words);
  return out;
}

/// Reads a table. Returns an empty string, or what is wrong with it: `table` is
/// then unspecified. Checks the format, that strings, axes, dims and table
/// lengths are in range and sizes are not negative; that owned boxes tile the
/// tensor is shardc::verifyExchange's to say.
inline std::string decodeSites(std::span<const int64_t> words,
                               std::string_view strings, SiteTable &table,
                               int64_t mostIntervals = maxIntervals) {
  table = SiteTable();
  detail::SiteReader reader(words, strings, mostIntervals);
  int64_t magic = 0, version = 0, total = 0;
  std::vector<int64_t> starts;
  detail::visitTable(reader, table, magic, version, total, starts);
  for (size_t i = 0; i < starts.size() && reader.error.empty(); ++i) {
    reader.where = "site " + std::to_string(i) + ": ";
    reader.seek(starts[i]);
    Site site;
    detail::visitSite(reader, site, table);
    site.exchange.meshShape = table.meshShape;
    table.sites.push_back(std::move(site));
  }
  return reader.error;
}

/// The format, as two tables of docs/Reference/artifact.md.
inline std::string describeSites() {
  SiteTable table;
  Site site;
  int64_t word = 0;
  std::vector<int64_t> starts;
  detail::SiteDescriber header, describer;
  detail::visitTable(header, table, word, word, word, starts);
  detail::visitSite(describer, site, table);
  return "| word | header |\n|---|---|\n" + header.text_ +
         "\n| word | site |\n|---|---|\n" + describer.text_;
}

} // namespace shardrt

#endif // SHARDRT_SITEWORDS_H

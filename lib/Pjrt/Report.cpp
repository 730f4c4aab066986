//===- Report.cpp - What programs communicated, and why -------------------===//
//
// One HTML file: no script, no picture, no font from elsewhere.
//
//===----------------------------------------------------------------------===//
#include "Report.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace shardc::pjrt;

int64_t Report::Entry::bytes() const {
  int64_t sum = 0;
  for (const Site &site : sites)
    sum += site.bytes;
  return sum;
}

void Report::add(const shardc_program *program, int64_t runs) {
  if (runs == 0)
    return;
  Entry entry;
  entry.name = shardc_program_name(program);
  entry.devices = shardc_program_num_ranks(program);
  entry.runs = runs;
  for (int64_t i = 0; i < shardc_program_num_sites(program); ++i) {
    shardc_site_stats stats = {};
    stats.size = sizeof(stats);
    if (shardc_error *error = shardc_program_site_stats(program, i, &stats)) {
      shardc_error_destroy(error);
      continue;
    }
    Site site = {stats.kind, stats.axes, stats.location, stats.name};
    // Counts and times are sums over devices.
    auto devices = static_cast<double>(std::max<int64_t>(entry.devices, 1));
    site.count = stats.count / std::max<int64_t>(entry.devices, 1);
    site.bytes = stats.bytes_received;
    site.ms = static_cast<double>(stats.total_ns) / devices / 1e6;
    site.waitMs = static_cast<double>(stats.wait_ns) / devices / 1e6;
    entry.sites.push_back(std::move(site));
  }
  std::lock_guard lock(mutex);
  programs.push_back(std::move(entry));
}

static std::string escape(std::string_view text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '&':
      out += "&amp;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  return out;
}

/// The reasons of a site, a line each, without the sharding rules that they
/// quote; what comes twice once.
static std::string reasonLines(std::string_view reasons) {
  std::vector<std::string_view> lines;
  while (!reasons.empty()) {
    size_t end = reasons.find("; ");
    std::string_view part = reasons.substr(0, end);
    reasons.remove_prefix(end == reasons.npos ? reasons.size() : end + 2);
    if (part.substr(0, 6) != "rule: " &&
        std::find(lines.begin(), lines.end(), part) == lines.end())
      lines.push_back(part);
  }
  std::string out;
  for (std::string_view line : lines)
    out += "<br><small>" + escape(line) + "</small>";
  return out;
}

template <typename... Values>
static std::string format(const char *form, Values... values) {
  char text[64];
  std::snprintf(text, sizeof(text), form, values...);
  return text;
}

/// "1.5 MB".
static std::string bytesText(double bytes) {
  const char *units[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit)
    bytes /= 1000;
  return format(unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

std::string Report::page(std::vector<Entry> programs) {
  std::stable_sort(
      programs.begin(), programs.end(),
      [](const Entry &a, const Entry &b) { return a.bytes() > b.bytes(); });
  int64_t runs = 0, bytes = 0, silent = 0;
  for (const Entry &entry : programs) {
    runs += entry.runs;
    bytes += entry.bytes();
    silent += entry.sites.empty();
  }
  std::string out = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>What was communicated, and why</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em}
h1{font-size:1.5em}h2{font-size:1.15em;margin:1.8em 0 .3em}
table{border-collapse:collapse;width:100%}td,th{padding:.25em .6em;text-align:left;vertical-align:top;border-bottom:1px solid #d8dee4}
td.n,th.n{text-align:right;white-space:nowrap}small,p{color:#57606a}code{font:13px ui-monospace,monospace}
</style></head><body>
<h1>What was communicated, and why</h1>
)";
  out += "<p>" + std::to_string(programs.size()) + " programs ran " +
         std::to_string(runs) + " times and moved " + bytesText(double(bytes)) +
         " between devices. " + std::to_string(silent) +
         " of them communicate nothing and are not listed.</p>\n";
  for (Entry &entry : programs) {
    if (entry.sites.empty())
      continue;
    std::stable_sort(
        entry.sites.begin(), entry.sites.end(),
        [](const Site &a, const Site &b) { return a.bytes > b.bytes; });
    out += "<h2>" + escape(entry.name) + "</h2><p>" +
           std::to_string(entry.devices) + " devices, " +
           std::to_string(entry.runs) + " runs, " +
           bytesText(double(entry.bytes()) / double(entry.runs)) +
           " a run</p>\n<table><tr><th>What</th><th>Where, and what needs "
           "it</th><th class=\"n\">Times a run</th><th class=\"n\">Bytes a "
           "run</th><th class=\"n\">ms a run</th><th class=\"n\">waiting</th>"
           "</tr>\n";
    for (const Site &site : entry.sites) {
      auto times = static_cast<double>(entry.runs);
      out +=
          "<tr><td>" + escape(site.kind) + "<br><small>" + escape(site.axes) +
          "</small></td><td><code>" + escape(site.location) + "</code>" +
          reasonLines(site.reason) + "</td><td class=\"n\">" +
          format("%.3g", double(site.count) / times) + "</td><td class=\"n\">" +
          bytesText(double(site.bytes) / times) + "</td><td class=\"n\">" +
          format("%.3f", site.ms / times) + "</td><td class=\"n\">" +
          format("%.3f", site.waitMs / times) + "</td></tr>\n";
    }
    out += "</table>\n";
  }
  return out + "</body></html>\n";
}

Report::~Report() {
  std::string text = page(std::move(programs));
  std::FILE *file = std::fopen(path.c_str(), "w");
  bool written =
      file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file)
    written &= std::fclose(file) == 0;
  if (!written)
    std::fprintf(stderr, "shardc: SHARDC_REPORT=%s: %s\n", path.c_str(),
                 std::strerror(errno));
}

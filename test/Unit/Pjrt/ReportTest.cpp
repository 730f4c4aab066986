//===- ReportTest.cpp - The page of what was communicated -----------------===//

#include "Report.h"
#include <gtest/gtest.h>

using namespace shardc::pjrt;

static Report::Entry entry(std::string name, int64_t runs,
                           std::vector<Report::Site> sites) {
  Report::Entry entry;
  entry.name = std::move(name);
  entry.devices = 4;
  entry.runs = runs;
  entry.sites = std::move(sites);
  return entry;
}

TEST(Report, WhatMovedMostComesFirstAndFiguresAreOfARun) {
  Report::Site small = {"halo_exchange", "x", "a.py:1", "reads past", 10, 400};
  Report::Site large = {"all_reduce", "x", "a.py:2", "is cut", 20, 3'000'000};
  std::string page =
      Report::page({entry("jit_f", 10, {small}), entry("jit_silent", 3, {}),
                    entry("jit_g", 10, {small, large})});
  EXPECT_LT(page.find("jit_g"), page.find("jit_f"));
  EXPECT_LT(page.find("all_reduce"), page.find("halo_exchange"));
  EXPECT_EQ(page.find("jit_silent"), page.npos);
  EXPECT_NE(page.find("3 programs ran 23 times and moved 3.0 MB"), page.npos);
  EXPECT_NE(page.find("1 of them communicate nothing"), page.npos);
  // 3,000,000 bytes in ten runs, twice each.
  EXPECT_NE(page.find("<td class=\"n\">2</td><td class=\"n\">300.0 kB</td>"),
            page.npos);
  EXPECT_NE(page.find("<td class=\"n\">1</td><td class=\"n\">40 bytes</td>"),
            page.npos);
}

TEST(Report, TextOfProgramsIsNoMarkup) {
  Report::Site site = {"all_reduce",
                       "x",
                       "<b>.py:1",
                       "a < b; rule: long; avoid: leave \"x\" out; a < b",
                       1,
                       8};
  std::string page = Report::page({entry("jit_<script>", 1, {site})});
  EXPECT_EQ(page.find("<script>"), page.npos);
  EXPECT_EQ(page.find("<b>"), page.npos);
  // A reason that comes twice is shown once, and the rule that it quotes not.
  size_t first = page.find("<small>a &lt; b</small>");
  ASSERT_NE(first, page.npos);
  EXPECT_EQ(page.find("a &lt; b", first + 10), page.npos);
  EXPECT_EQ(page.find("rule:"), page.npos);
  EXPECT_NE(page.find("avoid: leave &quot;x&quot; out"), page.npos);
}

//===- Page.cpp - The report as a page ------------------------------------===//
//
// One HTML file: no script, no picture, no font from elsewhere. It says what
// --report=json says, sorted for people.
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "shardc/Analysis/Explain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

static std::string escape(StringRef text) {
  std::string result;
  raw_string_ostream stream(result);
  printHTMLEscaped(text, stream);
  return result;
}

/// "1.5 MB".
static std::string bytesText(double bytes) {
  const char *units[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit)
    bytes /= 1000;
  return unit ? formatv("{0:f1} {1}", bytes, units[unit]).str()
              : formatv("{0:f0} bytes", bytes).str();
}

static const char *style = R"(<style>
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#1b1f24;background:#fff}
h1{font-size:1.5em;margin:0}h2{font-size:1.15em;margin:1.8em 0 .5em}
table{border-collapse:collapse;width:100%}td,th{padding:.25em .6em;text-align:left;vertical-align:top;border-bottom:1px solid #d8dee4}
th{font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.bar{display:inline-block;height:.7em;background:#3b76c4}.hid{background:#9cc2ef}.good{color:#176b32}.bad{color:#b3261e}
small,.q{color:#57606a}code{font:13px ui-monospace,monospace}
@media(prefers-color-scheme:dark){body{background:#14171a;color:#e6e9ec}td,th{border-color:#30363d}small,.q{color:#9aa4ae}}
</style>
)";

namespace {
class Page {
public:
  Page(raw_ostream &out, const Session &session, const RunResult &run,
       ArrayRef<Verdict> verdicts, const Machine &machine)
      : out(out), session(session), program(session.metadata()), run(run),
        verdicts(verdicts), machine(machine) {}

  void write() {
    out << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        << "<meta name=\"viewport\" content=\"width=device-width\"><title>"
        << escape(program.name) << " on " << program.numRanks()
        << " ranks</title>\n"
        << style << "</head><body>\n";
    writeHead();
    writeVerdicts();
    writeCommunication();
    writeKernels();
    writeMemory();
    writeValues("Arguments", program.arguments);
    writeValues("Results", program.results);
    out << "</body></html>\n";
  }

private:
  void heading(const Twine &text) { out << "<h2>" << text << "</h2>\n"; }
  /// A bar of `part` of the widest, a share of it in a lighter colour.
  void bar(double part, double light = 0) {
    double width = 10 * part;
    out << formatv("<span class=\"bar\" style=\"width:{0:f2}em\"></span>"
                   "<span class=\"bar hid\" style=\"width:{1:f2}em\"></span>",
                   width * (1 - light), width * light);
  }

  void writeHead() {
    std::string axes;
    for (const MeshAxis &axis : program.mesh)
      axes += (axes.empty() ? "" : ", ") + axis.name + " = " +
              std::to_string(axis.size);
    SiteReport total = totalOf(run.sites);
    double step = medianMs(run.stepMs);
    out << "<h1>" << escape(program.name) << "</h1>\n<p>"
        << formatv("<b>{0:f3} ms</b> a step", step);
    if (run.stepMs.size() > 1)
      out << formatv(" (median of {0}, least {1:f3})", run.stepMs.size(),
                     *min_element(run.stepMs));
    out << formatv(" on {0} rank{1}", program.numRanks(),
                   program.numRanks() == 1 ? "" : "s");
    if (!axes.empty())
      out << " of mesh " << escape(axes);
    if (program.threads > 1)
      out << formatv(", {0} threads each", program.threads);
    if (program.reproducible)
      out << ", reproducible";
    if (session.compileMs() > 0)
      out << formatv(". Compiled in {0:f0} ms", session.compileMs());
    out << ".</p>\n<p>";
    if (total.count == 0)
      out << "Ranks do not communicate.";
    else
      out << formatv("Communication: {0:f3} ms of a step on each rank ({1:f0} "
                     "%), {2} in all; {3:f0} % of the time that it would take "
                     "alone is hidden behind work.",
                     total.ms, step > 0 ? 100 * total.ms / step : 0,
                     bytesText(total.bytes), 100 * total.hidden());
    out << "</p>\n<p class=\"q\">" << escape(program.compiler) << ", code for "
        << escape(program.arch) << "</p>\n";
  }

  void writeVerdicts() {
    if (verdicts.empty())
      return;
    heading("Results compared");
    out << "<table><tr><th>Output</th><th>With</th><th>Verdict</th><th "
           "class=\"n\">Largest difference</th><th class=\"n\">ulp</th></tr>\n";
    for (const Verdict &verdict : verdicts)
      for (auto [i, output] : enumerate(verdict.outputs)) {
        bool good = output.outside == 0;
        out << "<tr><td>"
            << escape(program.results[i].name.empty() ? std::to_string(i)
                                                      : program.results[i].name)
            << "</td><td>" << escape(verdict.with) << "</td><td class=\""
            << (good ? "good" : "bad") << "\">"
            << (output.bitwiseEqual ? std::string("bitwise equal")
                : good ? std::string("within the tolerance")
                       : std::to_string(output.outside) + " elements differ")
            << "</td><td class=\"n\">" << formatv("{0:e2}", output.largest)
            << "</td><td class=\"n\">"
            << (output.largestUlp == UINT64_MAX
                    ? "NaN"
                    : std::to_string(output.largestUlp))
            << "</td></tr>\n";
      }
    out << "</table>\n";
  }

  void writeCommunication() {
    if (run.sites.empty())
      return;
    heading("Communication, the longest first");
    SmallVector<const SiteReport *> sites;
    for (const SiteReport &site : run.sites)
      sites.push_back(&site);
    // Of equals the first in the program first: they are in one vector.
    sort(sites, [](const SiteReport *a, const SiteReport *b) {
      return std::pair(b->ms + b->hiddenMs, a) <
             std::pair(a->ms + a->hiddenMs, b);
    });
    double most = std::max(sites.front()->ms + sites.front()->hiddenMs, 1e-9);
    out << "<table><tr><th>What</th><th>Where, and what needs it</th><th "
           "class=\"n\">Times</th><th class=\"n\">Bytes</th><th "
           "class=\"n\">ms</th><th class=\"n\">waiting</th><th "
           "class=\"n\">hidden</th><th>Time, and hidden</th></tr>\n";
    for (const SiteReport *site : sites) {
      out << "<tr><td>" << escape(site->kind) << "<br><small>"
          << escape(site->axes) << "</small></td><td><code>"
          << escape(site->location) << "</code>";
      for (const Reason &reason : parseReasons(site->name)) {
        out << "<br><small>" << escape(reason.needed);
        if (!reason.avoid.empty())
          out << ". To avoid it: " << escape(reason.avoid);
        out << "</small>";
      }
      out << formatv("</td><td class=\"n\">{0:f0}</td><td class=\"n\">{1}</td>"
                     "<td class=\"n\">{2:f3}</td><td class=\"n\">{3:f3}</td>"
                     "<td class=\"n\">{4:f0} %</td><td>",
                     site->count, bytesText(site->bytes), site->ms,
                     site->waitMs, 100 * site->hidden());
      bar((site->ms + site->hiddenMs) / most, site->hidden());
      out << "</td></tr>\n";
    }
    out << "</table>\n<p class=\"q\">Milliseconds are of a step, the mean over "
           "ranks; bytes of a step leave a rank, over all ranks.</p>\n";
  }

  void writeKernels() {
    std::vector<KernelReport> kernels = kernelsOf(run);
    if (kernels.empty())
      return;
    heading("Kernels, the longest first");
    double most = std::max(kernels.front().ms, 1e-9);
    out << "<table><tr><th>What</th><th>Where</th><th class=\"n\">Times</th>"
           "<th class=\"n\">ms</th><th class=\"n\">Bytes</th><th "
           "class=\"n\">GB/s</th><th class=\"n\">Gop/s</th><th "
           "class=\"n\">Share of the limit</th><th>Time, and what is above "
           "the limit</th></tr>\n";
    auto cell = [&](const std::string &text) {
      out << "<td class=\"n\">" << text << "</td>";
    };
    auto rate = [](double amount, double ms) {
      return std::isfinite(amount / ms)
                 ? formatv("{0:f1}", amount / ms * 1e-6).str()
                 : std::string();
    };
    for (const KernelReport &kernel : kernels) {
      double share = kernel.limitMs(machine) / kernel.ms;
      out << "<tr><td>" << escape(kernel.name) << "</td><td><code>"
          << escape(kernel.location) << "</code></td>";
      cell(formatv("{0:f0}", kernel.count).str());
      cell(formatv("{0:f3}", kernel.ms).str());
      cell(std::isfinite(kernel.bytes) ? bytesText(kernel.bytes) : "");
      cell(rate(kernel.bytes, kernel.ms));
      cell(rate(kernel.operations, kernel.ms));
      bool byArithmetic =
          kernel.arithmeticMs(machine) > kernel.memoryMs(machine);
      cell(std::isfinite(share)
               ? formatv("{0:f0} % of {1}", 100 * share,
                         byArithmetic ? "arithmetic" : "memory")
                     .str()
               : "");
      out << "<td>";
      bar(kernel.ms / most,
          std::isfinite(share) ? std::clamp(1 - share, 0.0, 1.0) : 0);
      out << "</td></tr>\n";
    }
    out << formatv(
        "</table>\n<p class=\"q\">Of a step, the mean over ranks. Bytes are of "
        "the buffers that a kernel reads and writes, each once; the limit is "
        "what a rank of the machine '{0}' needs for them ({1:f0} GB/s), or for "
        "the arithmetic ({2:f0} Gop/s), the longer of both: --machine says "
        "another.</p>\n",
        escape(machine.name), machine.memoryBandwidth * 1e-9,
        machine.flops * 1e-9);
  }

  void writeMemory() {
    heading("Memory");
    int64_t most = std::max<int64_t>(*max_element(run.peakBytes), 1);
    out << "<table><tr><th>Rank</th><th class=\"n\">Most that it held</th>"
           "<th></th></tr>\n";
    for (auto [rank, bytes] : enumerate(run.peakBytes)) {
      out << formatv("<tr><td>{0}</td><td class=\"n\">{1}</td><td>", rank,
                     bytesText(bytes));
      bar(double(bytes) / most);
      out << "</td></tr>\n";
    }
    out << "</table>\n";
  }

  void writeValues(const Twine &title, ArrayRef<ValueMetadata> values) {
    if (values.empty())
      return;
    heading(title);
    out << "<table><tr><th>Name</th><th>Type</th><th>Dims that are cut</th>"
           "</tr>\n";
    for (auto [i, value] : enumerate(values)) {
      out << "<tr><td>"
          << escape(value.name.empty() ? std::to_string(i) : value.name)
          << "</td><td><code>"
          << join(map_range(value.shape,
                            [](int64_t size) { return std::to_string(size); }),
                  "x")
          << (value.shape.empty() ? "" : "x") << escape(value.elementType)
          << "</code></td><td>";
      bool any = false;
      for (auto [number, dim] : enumerate(value.dims)) {
        if (dim.axes.empty())
          continue;
        out << (any ? "<br>" : "") << "dim " << number << " along ";
        for (auto [n, axis] : enumerate(dim.axes))
          out << (n ? ", " : "") << escape(program.mesh[axis].name);
        out << ": ";
        for (auto [n, size] : enumerate(dim.boundaries.sizes()))
          out << (n ? " | " : "") << size;
        any = true;
      }
      out << (any ? "" : "<span class=\"q\">whole on each rank</span>")
          << "</td></tr>\n";
    }
    out << "</table>\n";
  }

  raw_ostream &out;
  const Session &session;
  const ProgramMetadata &program;
  const RunResult &run;
  ArrayRef<Verdict> verdicts;
  const Machine &machine;
};
} // namespace

Error shardc::writePage(StringRef path, const Session &session,
                        const RunResult &run, ArrayRef<Verdict> verdicts,
                        const Machine &machine) {
  return writeFile(path, [&](raw_ostream &out) {
    Page(out, session, run, verdicts, machine).write();
  });
}

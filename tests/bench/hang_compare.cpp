// Measures what a comparison of dumps costs: tests/bench/hang. It is started by hand; no test runs it.
// usage: hang_compare [THREADS [DUMPS [ROUNDS]]]    1,000 threads, 3 dumps, 20 rounds

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "tests/builders/hang_builder.h"
#include "walker/export/findings_json.h"
#include "walker/export/findings_text.h"
#include "walker/hang/findings.h"
#include "walker/report/html.h"

namespace mixwalk::bench {
namespace {

// Makes dumps of a busy service: one in ten threads waits for a lock of the thread before it, some are in native code,
// some are idle, and some moved. Each thread has 40 frames, as a request of ASP.NET has.
std::vector<Snapshot> dumps_of(std::uint32_t threads, std::uint32_t dumps) {
  std::vector<Snapshot> out;
  for (std::uint32_t d = 0; d < dumps; ++d) {
    test::HangBuilder builder(1'795'412'335'000 + d * 10'000);
    for (std::uint32_t t = 1; t <= threads; ++t) {
      std::vector<std::string> frames = {"ntdll!NtWaitForMultipleObjects", "kernelbase!WaitForMultipleObjectsEx",
                                         "coreclr!"};
      switch (t % 4) {
        case 0: frames.push_back("M System.Threading.Monitor.Enter_Slowpath(System.Object)"); break;
        case 1: frames.push_back("orders_native!submit"), frames.push_back("P orders_native!submit"); break;
        case 2: frames.push_back("M System.Threading.LowLevelLifoSemaphore.WaitForSignal(System.Int32)"); break;
        default: frames.push_back("M Orders.Step" + std::to_string(d) + "()");
      }
      for (int f = 0; f < 30; ++f) {
        frames.push_back("M Orders.Layer" + std::to_string(f) + ".Handle" + std::to_string(t % 50) +
                         "(System.Collections.Generic.Dictionary<System.String, Orders.Order>)");
      }
      builder.thread(t, test::pool_thread(frames), "worker").cpu(100);
      if (t % 4 == 0) builder.monitor(0x1000 + t, t - 1, {t});
    }
    out.push_back(builder.snapshot());
  }
  return out;
}

// Processor time is used because one thread does all of the work. The wall clock would also count other work on the
// machine.
double cpu_ms() { return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int run(std::uint32_t threads, std::uint32_t dumps, int rounds) {
  const std::vector<Snapshot> input = dumps_of(threads, dumps);
  const std::vector<std::string> files(dumps, "orders.mixwalk");
  std::vector<double> find, write, page;
  std::size_t findings = 0, bytes = 0;
  for (int i = 0; i < rounds; ++i) {
    const double begun = cpu_ms();
    const Findings found = find_hangs(input, files);
    const double compared = cpu_ms();
    StringSink text, json;
    write_findings_text(input, found, {}, text);
    write_findings_json(input, found, "0.0.0", json);
    const double written = cpu_ms();
    StringSink html;
    write_html_dumps(input, {}, html, &found);
    page.push_back(cpu_ms() - written);
    bytes = html.text.size();
    find.push_back(compared - begun);
    write.push_back(written - compared);
    findings = found.findings.size();
  }
  std::ranges::sort(find);
  std::ranges::sort(write);
  std::ranges::sort(page);
  std::printf("%u threads x %u dumps: compared in %.1f ms (median of %d; slowest %.1f), text and JSON in %.1f ms, "
              "HTML of %zu bytes in %.1f ms; %zu findings\n",
              threads, dumps, find[find.size() / 2], rounds, find.back(), write[write.size() / 2], bytes,
              page[page.size() / 2], findings);
  return 0;
}

}  // namespace
}  // namespace mixwalk::bench

int main(int count, char** values) {
  const auto number = [&](int at, int otherwise) { return count > at ? std::atoi(values[at]) : otherwise; };
  return mixwalk::bench::run(static_cast<std::uint32_t>(std::max(number(1, 1000), 1)),
                             static_cast<std::uint32_t>(std::max(number(2, 3), 1)), std::max(number(3, 20), 1));
}

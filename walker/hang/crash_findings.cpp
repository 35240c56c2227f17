// The finding about the crash because of which a dump was written.

#include <string>
#include <utility>

#include "walker/hang/crash_place.h"
#include "walker/hang/finding_texts.h"
#include "walker/hang/process_findings.h"

namespace mixwalk {

void find_crash(ProcessFindings& process) {
  if (!process.snapshot.crash) return;
  const FrameNames names(process.snapshot);
  const CrashPlace place = crash_place(names);
  Finding out = process.finding(FindingKind::crash, Severity::crash, crash_text(*process.snapshot.crash));
  if (place.thread != nullptr) {
    const std::uint32_t raised = place.frame != kNoFrame ? place.frame : 0;
    const bool has_stack = raised < place.thread->stack.frames.size();
    const auto index = process.by_place[static_cast<std::size_t>(place.thread - process.snapshot.threads.data())];
    std::string words = "crashed";
    const std::vector<StackFrame>& frames = place.thread->stack.frames;
    if (has_stack) words += " in " + short_label(process.snapshot, frames[raised]);
    if (place.program != kNoFrame && place.program != raised) {
      words += ", called from " + short_label(process.snapshot, frames[place.program]);
    }
    FindingThread& part = out.threads.emplace_back(process.part(index, std::move(words)));
    part.frame = place.program != kNoFrame ? place.program : has_stack ? raised : kNoFrame;
  }
  process.add(std::move(out));
}

}  // namespace mixwalk

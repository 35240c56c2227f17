#pragma once

#include <array>
#include <span>
#include <string>

#include "walker/base/byte_sink.h"
#include "walker/export/show_options.h"
#include "walker/export/shown_recording.h"
#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"

namespace mixwalk {

// Pages for a browser, each as one self-contained file. docs/exports.md describes them.

inline constexpr int kHtmlDataVersion = 1;  // the version of the data in a page

// Writes the threads and stacks of dumps of one process, at least one, in the order of time. The page shows each
// thread's dumps side by side. It begins with `findings`, the result of a comparison of the dumps, and with `across`,
// what the processes have in common (find_fleet()), unless these are null.
bool write_html_dumps(std::span<const Snapshot> dumps, const ShowOptions& options, ByteSink& sink,
                const Findings* findings = nullptr, const Fleet* across = nullptr);
// Writes a recording's flame graph, and what each thread did over time. `shown`: folded unless all frames are shown.
bool write_html_recording(const ShownRecording& shown, const ShowOptions& options, ByteSink& sink);
// Writes how two recordings without difference_refusal() differ. `files`: their names as the user gave them. `note`: as
// in ShowOptions.
bool write_html_difference(const ShownRecording& before, const ShownRecording& after,
                           const std::array<std::string, 2>& files, const std::string& note, ByteSink& sink);

// Returns why no page can be made of a recording: it is a series of dumps that would take too much memory
// (series_refusal). Returns an empty text if it can be written.
std::string html_refusal(const Recording& recording);

}  // namespace mixwalk

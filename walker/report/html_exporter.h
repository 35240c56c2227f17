#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>

#include "walker/export/exporter.h"
#include "walker/export/recording_exporter.h"
#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"

namespace mixwalk {

// A page for a browser, as one self-contained file. It shows a dump's threads and stacks, or a recording's flame graph
// and what each thread did over time. docs/exports.md describes it.
class HtmlExporter final : public Exporter, public RecordingExporter {
 public:
  static constexpr int kVersion = 1;  // the version of the data in the page

  // The filter is that of dumps; a recording is filtered by its caller, but the filter says whether the page folds the
  // frames of the runtime itself. `note`: a sentence that the page begins with, such as that the file was cut off; empty
  // for none.
  explicit HtmlExporter(const FrameFilter& filter = {}, std::string note = {})
      : filter_(filter), note_(std::move(note)) {}

  bool write(const Snapshot& snapshot, ByteSink& sink) const override;
  bool write(const Recording& recording, ByteSink& sink) const override;
  // Writes several dumps of one process, at least one, in the order of time. The page shows each thread's dumps side by
  // side.
  bool write_series(std::span<const Snapshot> dumps, ByteSink& sink) const;
  // Writes the result of a comparison of the dumps, followed by the dumps. `across`: what the processes have in common,
  // the result of find_fleet(); null if that was not asked for.
  bool write_findings(std::span<const Snapshot> dumps, const Findings& findings, ByteSink& sink,
                      const Fleet* across = nullptr) const;
  // Writes how two recordings without difference_refusal() differ. `files`: their names as the user gave them.
  bool write_difference(const Recording& before, const Recording& after, const std::array<std::string, 2>& files,
                        ByteSink& sink) const;

 private:
  bool write_dumps(std::span<const Snapshot> dumps, const Findings* findings, const Fleet* across, ByteSink& sink) const;

  FrameFilter filter_;
  std::string note_;
};

// Returns why no page can be made of a recording: it is a series of dumps that would take too much memory
// (series_refusal). Returns an empty text if it can be written.
std::string html_refusal(const Recording& recording);

}  // namespace mixwalk

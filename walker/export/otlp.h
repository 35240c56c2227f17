#pragma once

#include "symbols/image_files.h"
#include "walker/export/recording_exporter.h"

namespace mixwalk {

// OTLP profiles as of opentelemetry-proto 1.11.0 (v1development: it may still change), one
// ExportProfilesServiceRequest. Samples of one thread and stack are one there, with all its times
// and values; attributes `thread.id` and `thread.name`. Each location of a real frame says
// `profile.frame.type`: dotnet (managed code and what the runtime made) or native.
class OtlpExporter final : public RecordingExporter {
 public:
  // An image whose file is in `images` gets a build id, `process.executable.build_id.htlhash`.
  explicit OtlpExporter(ImageFiles& images) : images_(images) {}
  bool write(const Recording& recording, ByteSink& sink) const override;

 private:
  ImageFiles& images_;
};

}  // namespace mixwalk

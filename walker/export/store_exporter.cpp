#include "walker/export/store_exporter.h"

#include "walker/store/recording_writer.h"

namespace mixwalk {

bool StoreExporter::write(const Recording& recording, ByteSink& sink) const {
  RecordingWriter writer(sink);
  return writer.begin(recording) && writer.end(recording);
}

}  // namespace mixwalk

#pragma once

#include <vector>

#include "symbols/image_identities.h"
#include "symbols/managed_lines.h"
#include "symbols/symboliser.h"
#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// A module in the form in which its symbols are looked for.
LoadedImage loaded_image(const Module& module);

// Names the native frames of a snapshot that are in images, and inserts the frames of calls that were inlined into
// them. The names of managed frames and stubs come from the runtime.
void symbolise(Snapshot& snapshot, Symboliser& symboliser);

// One native frame of a recording with its name, as the last element. The elements before it are the calls that were
// inlined into it, innermost first. The module is the frame's own.
std::vector<Frame> symbolised(Frame frame, const Module& module, Symboliser& symboliser);

// Like symbolised(), for a frame that may already have a name from the machine where it was recorded. An existing name
// is kept unless the new one is more certain. Symbols of the function itself are the most certain, followed by the
// linker's, then exports, then the name of an import, then the place where the function begins. Symbols with lines also
// replace symbols without.
std::vector<Frame> symbolised_further(Frame frame, const Module& module, Symboliser& symboliser);

// Finds out the builds of the modules and assemblies whose build is not known yet. Their files say it.
void identify(Module& module, ImageIdentities& identities);
void identify(Assembly& assembly, ManagedLines& lines);
void identify(Snapshot& snapshot, ImageIdentities& identities, ManagedLines& lines);

// Gives the managed frames of a snapshot, and the awaits of its tasks, their lines.
void add_lines(Snapshot& snapshot, ManagedLines& lines);

// Gives one managed frame of a recording its line. `assembly` is that of the frame's method.
void add_line(Frame& frame, const Assembly& assembly, ManagedLines& lines);

}  // namespace mixwalk

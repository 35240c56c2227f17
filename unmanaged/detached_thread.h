#pragma once

#include <functional>

namespace mixwalk {

// Runs the work in a thread of its own, for which nobody waits. The work must own all that it uses, and throw nothing.
// Returns false if the system has no thread left; the work does not run then. Not frozen-safe.
//
// Folklore: winpthreads keeps the state of a thread in memory that other threads use again. std::thread::detach() gives
// this memory back if the thread's function has ended by then, although the thread still uses it while it ends. The next
// thread gets the memory. Then its handle is closed by the one that ends, or its function is forgotten. Real case:
// `doctor` called a share silent for which nothing had been asked (once in a hundred runs). A test program did not end.
// Remedy: a thread that is detached when it begins gives its memory back itself. Test: DetachedThread (image_test).
bool run_detached(std::function<void()> work);

}  // namespace mixwalk

#include "unmanaged/detached_thread.h"

#include <pthread.h>

#include <memory>
#include <utility>

namespace mixwalk {
namespace {

using Work = std::function<void()>;

void* run(void* work) {
  (*std::unique_ptr<Work>(static_cast<Work*>(work)))();
  return nullptr;
}

}  // namespace

bool run_detached(Work work) {
  auto owned = std::make_unique<Work>(std::move(work));
  pthread_attr_t detached;
  if (pthread_attr_init(&detached) != 0) return false;
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool runs = pthread_create(&thread, &detached, &run, owned.get()) == 0;
  pthread_attr_destroy(&detached);
  if (runs) static_cast<void>(owned.release());  // the thread has it
  return runs;
}

}  // namespace mixwalk

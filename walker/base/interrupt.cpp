#include "walker/base/interrupt.h"

#include <csignal>

namespace mixwalk {
namespace {

volatile std::sig_atomic_t g_pressed = 0;
void (*g_before)(int) = SIG_DFL;

void on_interrupt(int) {
  g_pressed = 1;
  std::signal(SIGINT, g_before);
}

}  // namespace

InterruptCatcher::InterruptCatcher() noexcept {
  g_pressed = 0;
  before_ = std::signal(SIGINT, SIG_IGN);
  // A background job of a shell ignores Ctrl-C.
  if (before_ == SIG_IGN || before_ == SIG_ERR) return;
  g_before = before_;
  std::signal(SIGINT, &on_interrupt);
  exists_ = true;
}

InterruptCatcher::~InterruptCatcher() {
  if (before_ != SIG_ERR) std::signal(SIGINT, before_);
  exists_ = false;
}

bool InterruptCatcher::pressed() const noexcept { return g_pressed != 0; }

}  // namespace mixwalk

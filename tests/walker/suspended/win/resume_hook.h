#pragma once

#include <windows.h>

#include <functional>
#include <utility>

namespace mixwalk {

// What a test does in the place of ResumeThread.
inline int g_resumes = 0;
inline std::function<void()> g_before_resume;  // called once

// To be called at the begin of the test.
inline void forget_resumes() {
  g_resumes = 0;
  g_before_resume = nullptr;
}

// To be called before ResumeThread.
inline void note_resume() {
  ++g_resumes;
  if (g_before_resume) std::exchange(g_before_resume, nullptr)();
}

}  // namespace mixwalk

// Contains only the worker of WorkerQuestions, without the rest of mixwalk.exe.

#include "unmanaged/win/utf8.h"
#include "walker/clr/win/clr_worker.h"

int wmain(int count, wchar_t** values) {
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(mixwalk::to_utf8(values[i]));
  return mixwalk::run_clr_worker(arguments).value_or(9);
}

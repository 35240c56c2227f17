// A DLL that exports nothing of a debugging library.
extern "C" __declspec(dllexport) int something_else() { return 1; }

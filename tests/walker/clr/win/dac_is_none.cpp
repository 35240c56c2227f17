// A DLL that does not have the exports of a debugging library.
extern "C" __declspec(dllexport) int something_else() { return 1; }

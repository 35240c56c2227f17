/* The functions of tdh.dll that dotnet-stack calls, for Wine, whose tdh.dll has no code for them. They find nothing:
   what dotnet-stack reads of a .NET process needs no description of events of Windows. */

#define NOT_FOUND 1168UL  /* ERROR_NOT_FOUND */

#define FINDS_NOTHING(name) \
  __declspec(dllexport) unsigned long name(void) { return NOT_FOUND; }

FINDS_NOTHING(TdhEnumerateManifestProviderEvents)
FINDS_NOTHING(TdhEnumerateProviderFieldInformation)
FINDS_NOTHING(TdhEnumerateProviders)
FINDS_NOTHING(TdhGetEventInformation)
FINDS_NOTHING(TdhGetEventMapInformation)
FINDS_NOTHING(TdhGetManifestEventInformation)

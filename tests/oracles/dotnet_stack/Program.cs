// Runs Microsoft's dotnet-stack with the given arguments, as the tool's own program does. That program needs an
// installed runtime, which no prefix of Wine has; this one brings the runtime of the fixtures.

using System.Reflection;
using System.Runtime.Loader;

string folder = Path.Combine(AppContext.BaseDirectory, "dotnet-stack");
AssemblyLoadContext.Default.Resolving += (context, name) => {
  string file = Path.Combine(folder, name.Name + ".dll");
  return File.Exists(file) ? context.LoadFromAssemblyPath(file) : null;
};
MethodInfo main = Assembly.LoadFrom(Path.Combine(folder, "dotnet-stack.dll")).EntryPoint!;
object? result = main.Invoke(null, main.GetParameters().Length == 0 ? null : [args]);
return result is Task<int> task ? await task : result as int? ?? 0;

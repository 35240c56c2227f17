// Completes command lines in PowerShell's own engine, which has read the script that mixwalk writes for PowerShell.
// usage: powershell COMPLETIONS.ps1
// Ends with 1 if the script has an error, or if a completion differs from the one below.

using System.Management.Automation;
using System.Management.Automation.Language;
using System.Management.Automation.Runspaces;

if (args.Length != 1)
{
    Console.Error.WriteLine("usage: powershell COMPLETIONS.ps1");
    return 2;
}
// "" means that nothing is offered, so that PowerShell offers files.
var expected = new (string Line, string Completions)[]
{
    ("mixwalk ", "ps dump record convert symbolise compare report doctor completions --help --version"),
    ("mixwalk d", "dump doctor"),
    ("mixwalk ps ", "-h --help -f --format"),
    ("mixwalk dump --proc", "--process-id"),
    ("mixwalk.exe dump --at-once --one", "--one-by-one"),
    ("mixwalk dump --thr", "--thread"),
    ("mixwalk dump --engine ", "auto copy snapshot"),
    ("mixwalk dump --engine=s", "--engine=snapshot"),
    ("mixwalk record -f speed", "speedscope"),
    ("mixwalk record --otlp --process-", "--process-id"),
    ("mixwalk completions ", "bash powershell"),
    ("mixwalk dump -o ", ""),
    ("mixwalk report ", ""),
    ("mixwalk dump -- program.exe --proc", ""),
    ("mixwalk nonsense --", ""),
};

string script = File.ReadAllText(args[0]);
Parser.ParseInput(script, out _, out ParseError[] errors);
foreach (ParseError error in errors) Console.Error.WriteLine($"FAILED: {error}");
int failed = errors.Length;
using Runspace runspace = RunspaceFactory.CreateRunspace(InitialSessionState.CreateDefault2());
runspace.Open();
using (PowerShell shell = PowerShell.Create(runspace)) shell.AddScript(script).Invoke();
foreach ((string line, string completions) in expected)
{
    using PowerShell shell = PowerShell.Create(runspace);
    CommandCompletion found = CommandCompletion.CompleteInput(line, line.Length, null, shell);
    string offered = string.Join(' ', found.CompletionMatches
        .Where(match => match.ResultType is CompletionResultType.ParameterName or CompletionResultType.ParameterValue)
        .Select(match => match.CompletionText));
    if (offered == completions) continue;
    Console.Error.WriteLine($"FAILED: \"{line}\" gives \"{offered}\", not \"{completions}\"");
    ++failed;
}
Console.WriteLine($"{expected.Length} command lines were completed");
return failed == 0 ? 0 : 1;

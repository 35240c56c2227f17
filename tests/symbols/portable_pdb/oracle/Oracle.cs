// usage: oracle IMAGE... For each image, prints "image FILE". Then for each method with sequence points, and for each
// offset of its IL that matters, prints "TOKEN OFFSET LINE FILE", with numbers in hexadecimal and decimal; line 0 if
// there is none.
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

foreach (string path in args)
{
    using PEReader image = new(File.OpenRead(path));
    if (!image.TryOpenAssociatedPortablePdb(path, File.OpenRead, out MetadataReaderProvider? provider, out _)) continue;
    Console.WriteLine($"image {path}");
    MetadataReader reader = provider!.GetMetadataReader();
    foreach (MethodDebugInformationHandle handle in reader.MethodDebugInformation)
    {
        MethodDebugInformation method = reader.GetMethodDebugInformation(handle);
        if (method.SequencePointsBlob.IsNil) continue;
        SequencePoint[] points = method.GetSequencePoints().ToArray();
        int token = MetadataTokens.GetToken(handle.ToDefinitionHandle());
        IEnumerable<int> offsets = points.SelectMany(point => new[] { point.Offset - 1, point.Offset, point.Offset + 1 });
        foreach (int offset in offsets.Where(offset => offset >= 0).Distinct())
        {
            // The point is chosen as in the runtime's own stack traces.
            SequencePoint? best = null;
            foreach (SequencePoint point in points)
            {
                if (point.Offset > offset) break;
                if (!point.IsHidden) best = point;
            }
            string file = best is { } found ? reader.GetString(reader.GetDocument(found.Document).Name) : "";
            Console.WriteLine($"{token:x8} {offset} {best?.StartLine ?? 0} {file}");
        }
    }
    provider.Dispose();
}

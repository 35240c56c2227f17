"""Packages for `dotnet tool install`, of .NET SDK 10 and later: "mixwalk" names one package a platform, and the SDK takes
the one of its own, whose program it starts itself. (Microsoft Learn, "Create RID-specific, self-contained, and AOT .NET
tools"; NuGet, "Package types"; ECMA-376 part 2 for what each .nupkg has beside its files.)"""

import os

import archives

DESCRIPTION = "Complete call stacks of .NET programs: native and managed frames, interleaved."
SETTINGS = "DotnetToolSettings.xml"


def nuspec(identity, version, package_type):
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2012/06/nuspec.xsd">
  <metadata>
    <id>{identity}</id>
    <version>{version}</version>
    <authors>The mixwalk authors</authors>
    <license type="expression">MIT</license>
    <description>{DESCRIPTION}</description>
    <packageTypes>
      <packageType name="{package_type}" />
    </packageTypes>
  </metadata>
</package>
"""


def write_package(folder, identity, version, package_type, files, seconds):
    relations = f"""<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{identity}.nuspec" Id="R1" />
</Relationships>
"""
    extensions = {name.rpartition(".")[2] for name in files if "." in os.path.basename(name)} | {"nuspec", "rels"}
    parts = [f'  <Default Extension="{end}" ContentType="' +
             ("application/vnd.openxmlformats-package.relationships+xml" if end == "rels" else "application/octet") +
             '" />' for end in sorted(extensions)]
    parts += [f'  <Override PartName="/{name}" ContentType="application/octet" />' for name in sorted(files)
              if "." not in os.path.basename(name)]
    types = ('<?xml version="1.0" encoding="utf-8"?>\n'
             '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\n' + "\n".join(parts) +
             "\n</Types>\n")
    content = {**files, f"{identity}.nuspec": (nuspec(identity, version, package_type).encode(), False),
               "_rels/.rels": (relations.encode(), False), "[Content_Types].xml": (types.encode(), False)}
    archives.write_zip(os.path.join(folder, f"{identity}.{version}.nupkg"), content, seconds)


def write(folder, version, platforms, seconds):
    """platforms: {"win-x64": {file: (bytes, whether it is a program)}}"""
    listed = ""
    for platform, files in platforms.items():
        identity = "mixwalk." + platform
        listed += f'    <RuntimeIdentifierPackage RuntimeIdentifier="{platform}" Id="{identity}" />\n'
        program = "mixwalk.exe" if platform.startswith("win-") else "mixwalk"
        settings = f"""<?xml version="1.0" encoding="utf-8"?>
<DotNetCliTool Version="2">
  <Commands>
    <Command Name="mixwalk" EntryPoint="{program}" Runner="executable" />
  </Commands>
</DotNetCliTool>
"""
        placed = {f"tools/any/{platform}/{name}": value for name, value in files.items()}
        placed[f"tools/any/{platform}/{SETTINGS}"] = (settings.encode(), False)
        write_package(folder, identity, version, "DotnetToolRidPackage", placed, seconds)
    settings = f"""<?xml version="1.0" encoding="utf-8"?>
<DotNetCliTool Version="2">
  <Commands>
    <Command Name="mixwalk" />
  </Commands>
  <RuntimeIdentifierPackages>
{listed}  </RuntimeIdentifierPackages>
</DotNetCliTool>
"""
    # Under "any" SDKs before 10 find it as well, and say that they are too old for it.
    write_package(folder, "mixwalk", version, "DotnetTool", {f"tools/any/any/{SETTINGS}": (settings.encode(), False)},
                  seconds)

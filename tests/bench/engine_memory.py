"""Peak memory of one side in a process of its own: the system's account of the whole process."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench import engine_sides as sides


def main() -> None:
    """Answer the prompts one way and print the peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=("ours", "stock"))
    parser.add_argument("model", help="a model folder")
    parser.add_argument("prompts", type=Path)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    import torch

    torch.set_num_threads(args.threads)
    lm = sides.load(args.model, args.batch)
    documents = sides.from_json(args.prompts.read_text(encoding="utf-8"))
    loaded = peak_mb()
    if args.side == "ours":
        sides.ours(lm, documents)
    else:
        sides.stock(lm, sides.flat(documents))
    print(json.dumps({"loaded_mb": loaded, "peak_mb": peak_mb()}))


def peak_mb() -> float:
    """Largest resident memory of this process so far."""
    status = Path("/proc/self/status")
    if status.is_file():
        # Linux hands ru_maxrss on from the parent, which has held three passes' tensors by then.
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    # Kilobytes, on macOS bytes.
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def measure(
    side: str, model: str, documents: sides.Documents, *, batch: int, threads: int
) -> dict[str, float]:
    """Run one side in a new process and return its peak, and that after loading, in MB.

    Raises
    ------
    CalledProcessError
        If the process fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        prompts = Path(folder) / "prompts.json"
        prompts.write_text(sides.to_json(documents), encoding="utf-8")
        command = [sys.executable, "-m", "tests.bench.engine_memory", side, model, str(prompts)]
        command += ["--batch", str(batch), "--threads", str(threads)]
        # What the host logs goes to the terminal's error stream, as in the parent.
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


if __name__ == "__main__":
    main()

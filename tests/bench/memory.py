"""Peak memory and time of all signals against stock text-only generation of the same requests.

``python -m tests.bench.memory`` runs each side in a process of its own, so that the peaks
are the system's own account of a whole process, and prints the ratios. Both sides load the
same model and the same task; stock generates every distinct prompt once.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any


def main() -> None:
    """Run both sides, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", choices=("stock", "sago"))
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--task", default="sago_demo_facts")
    parser.add_argument("--documents", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--batch", type=int, default=8)
    args = parser.parse_args()
    if args.side:
        print(json.dumps(one_side(args)))
        return
    found = {}
    for side in ("stock", "sago"):
        command = [sys.executable, "-m", "tests.bench.memory", *sys.argv[1:], "--side", side]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[side] = json.loads(done.stdout.strip().splitlines()[-1])
        print(f"{side:>6}: peak {found[side]['peak_mb']:.0f} MB, {found[side]['seconds']:.1f} s")
    peak = found["sago"]["peak_mb"] / found["stock"]["peak_mb"]
    seconds = found["sago"]["seconds"] / found["stock"]["seconds"]
    print(f"ratio sago / stock: peak memory {peak:.2f}, time {seconds:.2f}")


def one_side(args: argparse.Namespace) -> dict[str, Any]:
    """Answer the requests one way and return peak and time."""
    from lm_eval.api.instance import Instance
    from lm_eval.tasks import TaskManager

    from sago_harness.backends.sago_hf import SagoHF
    from sago_harness.hooks.requests import sago_generate
    from sago_harness.taskfiles import task_folder

    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata={"recipe": "quick"}
    )
    task = manager.load([args.task])["tasks"][args.task]
    lm = SagoHF(args.model, device="cpu", dtype="float32", batch_size=args.batch)
    task.set_config("generation_kwargs", {"max_gen_toks": args.tokens}, update=True)
    task.set_fewshot_seed(1234)
    task.build_all_requests(
        limit=args.documents,
        apply_chat_template=True,
        chat_template=lm.apply_chat_template,
        tokenizer_name="",
    )
    requests = task.instances
    start = time.perf_counter()
    if args.side == "sago":
        sago_generate(lm, requests)
    else:
        prompts = list(dict.fromkeys(request.arguments[0] for request in requests))
        stock = [
            Instance("generate_until", {}, (prompt, dict(requests[0].arguments[1])), index)
            for index, prompt in enumerate(prompts)
        ]
        lm.generate_until(stock)
    seconds = time.perf_counter() - start
    # Linux counts kilobytes, macOS bytes.
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"peak_mb": peak / unit, "seconds": seconds}


if __name__ == "__main__":
    main()

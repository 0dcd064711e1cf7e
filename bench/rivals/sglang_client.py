"""Runs SGLang's benchmark clients without its engine (and so without torch).

usage: sglang_client.py rust|asyncio ARGUMENT...
"""
import importlib.util
import pathlib
import runpy
import sys
import types

root = next(p for p in map(pathlib.Path, sys.path) if p.name == "site-packages") / "sglang"
kind, arguments = sys.argv[1], sys.argv[2:]
if kind == "rust":
    library = next((root / "srt" / "rust_extensions").glob("_bench*.so"))
    spec = importlib.util.spec_from_file_location("_bench", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.run_argv(["sglang-bench", *arguments])
else:
    # The packages on the way to the client import the engine; they are not needed.
    for name in ["sglang", "sglang.srt", "sglang.srt.utils", "sglang.srt.disaggregation", "sglang.benchmark"]:
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    disaggregation = types.ModuleType("sglang.srt.disaggregation.utils")
    disaggregation.FAKE_BOOTSTRAP_HOST = "2.2.2.2"
    sys.modules[disaggregation.__name__] = disaggregation
    sys.argv = ["sglang.benchmark.serving", *arguments]
    runpy.run_module("sglang.benchmark.serving", run_name="__main__")

"""llama.cpp's own HTTP server, from the xllamacpp wheel, until SIGTERM."""

import argparse
import signal
import threading

import xllamacpp


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--model", required=True)
    flags.add_argument("--port", type=int, required=True)
    flags.add_argument("--slots", type=int, default=2)
    flags.add_argument("--context", type=int, default=4096, help="tokens over all slots")
    flags.add_argument("--threads", type=int, default=1)
    flags.add_argument("--chat-template", help="file with another template than the model's")
    asked = flags.parse_args()

    params = xllamacpp.CommonParams()
    params.model.path = asked.model
    params.model_alias = {"smollm2-135m"}
    params.hostnames = ["127.0.0.1"]
    params.port = asked.port
    params.n_ctx = asked.context
    params.n_parallel = asked.slots
    params.cpuparams.n_threads = asked.threads
    params.cpuparams_batch.n_threads = asked.threads
    params.endpoint_metrics = params.endpoint_slots = params.endpoint_props = True
    params.fit_params = params.ui = False
    params.offline = True
    params.sampling.seed = 42
    params.cache_ram_mib = 256

    if asked.chat_template:
        with open(asked.chat_template, newline="", encoding="utf-8") as f:
            params.chat_template = f.read()
        params.use_jinja = True

    server = xllamacpp.Server(params)
    print("listening on", server.listening_address, flush=True)
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    while not stop.wait(0.5):
        pass
    del server


main()

"""Drives a simulated Triton with its own unmodified client library.

usage: triton.py HTTP_HOST:PORT GRPC_HOST:PORT MODEL
prints a JSON object: requests that succeeded and output tokens. Any surprise is
an exception.
"""
import json
import queue
import sys

import numpy as np
import tritonclient.grpc as grpcclient
import tritonclient.http as httpclient
from tritonclient.utils import InferenceServerException

HTTP, GRPC, MODEL = sys.argv[1:]
SEEN = {"requests": 0, "output": 0}


def inputs(mod, tokens, stream=None):
    text = mod.InferInput("text_input", [1], "BYTES")
    text.set_data_from_numpy(np.array([b"Say hello to the world"], dtype=object))
    limit = mod.InferInput("max_tokens", [1], "INT32")
    limit.set_data_from_numpy(np.array([tokens], dtype=np.int32))
    endless = mod.InferInput("ignore_eos", [1], "BOOL")
    endless.set_data_from_numpy(np.array([True]))
    out = [text, limit, endless]
    if stream is not None:
        flag = mod.InferInput("stream", [1], "BOOL")
        flag.set_data_from_numpy(np.array([stream]))
        out.append(flag)
    return out


def count(n):
    SEEN["requests"] += 1
    SEEN["output"] += n


def refused(call, *words):
    try:
        call()
    except InferenceServerException as e:
        assert all(w in str(e) for w in words), e
        return
    raise AssertionError("no error, expected " + repr(words))


http, grpc = httpclient.InferenceServerClient(HTTP), grpcclient.InferenceServerClient(GRPC)
for c in (http, grpc):
    assert c.is_server_live() and c.is_server_ready() and c.is_model_ready(MODEL)
assert http.get_server_metadata()["name"] == grpc.get_server_metadata(as_json=True)["name"] == "triton"
assert http.get_model_config(MODEL)["model_transaction_policy"]["decoupled"]
assert grpc.get_model_config(MODEL, as_json=True)["config"]["model_transaction_policy"]["decoupled"]
names = [o["name"] for o in http.get_model_metadata(MODEL)["outputs"]]
assert names == [o["name"] for o in grpc.get_model_metadata(MODEL, as_json=True)["outputs"]] and "text_output" in names
assert grpc.get_model_repository_index(as_json=True)["models"][0]["state"] == http.get_model_repository_index()[0]["state"] == "READY"

said = http.infer(MODEL, inputs(httpclient, 5)).as_numpy("text_output")[0]
count(5)
asked = [httpclient.InferRequestedOutput("text_output", binary_data=False), httpclient.InferRequestedOutput("num_output_tokens", binary_data=False)]
r = http.infer(MODEL, inputs(httpclient, 5), outputs=asked)
count(5)
assert r.as_numpy("num_output_tokens")[0] == 5 and r.as_numpy("text_output")[0].encode() == said, r.get_response()
r = grpc.infer(MODEL, inputs(grpcclient, 5), request_id="a1", outputs=[grpcclient.InferRequestedOutput("text_output")])
count(5)
assert r.as_numpy("text_output")[0] == said and r.get_response().id == "a1", r.get_response()

for empty in (False, True):
    heard = queue.Queue()
    grpc.start_stream(callback=lambda result, error: heard.put((result, error)))
    grpc.async_stream_infer("nothing", inputs(grpcclient, 5, True))  # the stream outlives it
    _, error = heard.get(timeout=20)
    assert "unknown model" in str(error), error
    grpc.async_stream_infer(MODEL, inputs(grpcclient, 5, True), request_id="s1", enable_empty_final_response=empty)
    pieces, final = [], False
    while not final:
        result, error = heard.get(timeout=20)
        assert error is None, error
        response = result.get_response()
        assert response.id == "s1", response
        final = response.parameters["triton_final_response"].bool_param
        piece = result.as_numpy("text_output")
        assert (piece is None) == (empty and final), response
        if piece is not None:
            pieces.append(piece[0])
    assert len(pieces) == 5 and b"".join(pieces) == said, pieces
    count(5)
    grpc.stop_stream()

refused(lambda: grpc.infer("nothing", inputs(grpcclient, 5)), "NOT_FOUND", "unknown model")
refused(lambda: http.infer("nothing", inputs(httpclient, 5)), "404", "unknown model")
refused(lambda: http.infer(MODEL, inputs(httpclient, 90000)), "400", "90000")
refused(lambda: grpc.infer(MODEL, inputs(grpcclient, 5, True)), "UNIMPLEMENTED", "stream")

for stats in (http.get_inference_statistics(MODEL), grpc.get_inference_statistics(MODEL, as_json=True)):
    assert int(stats["model_stats"][0]["inference_count"]) == SEEN["requests"], stats
print(json.dumps(SEEN))

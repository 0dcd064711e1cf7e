"""Drives a simulated engine with the unmodified client libraries of its users.

usage: clients.py FACE BASE_URL MODEL
prints a JSON object with what the clients were told: requests that ended,
prompt and output tokens. Any surprise is an exception.
"""
import json
import sys

FACE, BASE, MODEL = sys.argv[1:]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "weather", "description": "Weather of a city.", "parameters": SCHEMA}}
SEEN = {"requests": 0, "prompt": 0, "output": 0}


def count(prompt, output):
    SEEN["requests"] += 1
    SEEN["prompt"] += prompt
    SEEN["output"] += output


def check(text, bounds=True):
    """A value that follows SCHEMA; Ollama's client leaves the bounds of a tool's parameters out."""
    value = json.loads(text) if isinstance(text, str) else text
    assert isinstance(value["city"], str) and isinstance(value["days"], int), value
    assert not bounds or 1 <= value["days"] <= 7, value


def openai_chat(tools):
    import openai

    client = openai.OpenAI(base_url=BASE + "/v1", api_key="none", max_retries=0)
    assert MODEL in [m.id for m in client.models.list()]
    messages = [{"role": "user", "content": "Say hello to the world"}]

    r = client.chat.completions.create(model=MODEL, messages=messages, max_tokens=8)
    assert r.choices[0].message.role == "assistant" and r.choices[0].message.content, r
    count(r.usage.prompt_tokens, r.usage.completion_tokens)
    whole = r.choices[0].message.content

    said, usage, reason = "", None, None
    for chunk in client.chat.completions.create(model=MODEL, messages=messages, max_tokens=8, stream=True, stream_options={"include_usage": True}):
        if chunk.choices:
            said += chunk.choices[0].delta.content or ""
            reason = chunk.choices[0].finish_reason or reason
        if chunk.usage and chunk.usage.total_tokens:
            usage = chunk.usage
    assert said == whole and reason == "length" and usage.completion_tokens == 8, (said, whole, reason, usage)
    count(usage.prompt_tokens, usage.completion_tokens)

    said = ""
    for chunk in client.completions.create(model=MODEL, prompt="Say hello", max_tokens=6, stream=True):
        if chunk.choices:
            said += chunk.choices[0].text
    assert said, "no text"
    r = client.completions.create(model=MODEL, prompt="Say hello", max_tokens=6)
    assert r.choices[0].text == said, (r, said)
    count(r.usage.prompt_tokens, r.usage.completion_tokens)
    count(r.usage.prompt_tokens, r.usage.completion_tokens)

    stop = whole.split()[2]
    r = client.chat.completions.create(model=MODEL, messages=messages, max_tokens=50, stop=[stop])
    assert r.choices[0].finish_reason == "stop" and whole.startswith(r.choices[0].message.content.rstrip()), r
    assert stop not in r.choices[0].message.content, r
    count(r.usage.prompt_tokens, r.usage.completion_tokens)

    r = client.chat.completions.create(model=MODEL, messages=messages,
                                       response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}})
    check(r.choices[0].message.content)
    count(r.usage.prompt_tokens, r.usage.completion_tokens)

    if tools:
        r = client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
        call = r.choices[0].message.tool_calls[0]
        check(call.function.arguments)
        assert r.choices[0].finish_reason == "tool_calls" and call.function.name == "weather", r
        count(r.usage.prompt_tokens, r.usage.completion_tokens)
        with client.chat.completions.stream(model=MODEL, messages=messages, tools=[TOOL], stream_options={"include_usage": True}) as stream:
            final = stream.get_final_completion() if hasattr(stream, "get_final_completion") else None
            for event in stream:
                pass
            final = final or stream.get_final_completion()
        check(final.choices[0].message.tool_calls[0].function.arguments)
        count(final.usage.prompt_tokens, final.usage.completion_tokens)
    return client


def error(client, status, **request):
    import openai

    try:
        client.chat.completions.create(**request)
    except openai.APIStatusError as e:
        assert e.status_code == status, e
        return e
    raise AssertionError("no error")


def prompt(message):
    return message.usage.input_tokens + message.usage.cache_read_input_tokens


def anthropic_messages():
    import anthropic

    client = anthropic.Anthropic(base_url=BASE, api_key="none", max_retries=0)
    asked = {"model": MODEL, "max_tokens": 8, "messages": [{"role": "user", "content": "Say hello to the world"}]}
    r = client.messages.create(**asked)
    assert r.stop_reason == "max_tokens" and r.content[0].text and prompt(r) == 5, r
    count(prompt(r), r.usage.output_tokens)
    assert client.messages.count_tokens(model=MODEL, messages=asked["messages"]).input_tokens == 5
    with client.messages.stream(**asked) as stream:
        said = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert said == final.content[0].text == r.content[0].text and final.usage.output_tokens == 8, final
    count(prompt(final), final.usage.output_tokens)
    word = said.split()[2]
    r = client.messages.create(**{**asked, "max_tokens": 50}, stop_sequences=[word])
    assert r.stop_reason == "stop_sequence" and r.stop_sequence == word and word not in r.content[0].text, r
    count(prompt(r), r.usage.output_tokens)
    asked["max_tokens"] = 500
    tools = [{"name": "weather", "input_schema": SCHEMA}]
    with client.messages.stream(**asked, tools=tools) as stream:
        final = stream.get_final_message()
    assert final.stop_reason == "tool_use", final
    check(final.content[0].input)
    count(prompt(final), final.usage.output_tokens)
    asked["messages"] += [{"role": "assistant", "content": [{"type": "tool_use", "id": final.content[0].id, "name": "weather", "input": final.content[0].input}]},
                          {"role": "user", "content": [{"type": "tool_result", "tool_use_id": final.content[0].id, "content": "rain"}]}]
    r = client.messages.create(**asked, tools=tools)
    assert r.stop_reason == "end_turn" and r.content[0].type == "text", r
    count(prompt(r), r.usage.output_tokens)
    try:
        client.messages.create(**{**asked, "max_tokens": 10**7}, stream=True)
        raise AssertionError("no error")
    except anthropic.BadRequestError as e:
        assert e.body["error"]["type"] == "invalid_request_error", e.body


def vllm():
    import openai

    anthropic_messages()
    client = openai_chat(True)
    too_long = error(client, 400, model=MODEL, messages=[{"role": "user", "content": "hi"}], max_tokens=10**7)
    assert too_long.body["type"] == "BadRequestError" and "maximum context length" in too_long.body["message"], too_long.body
    assert isinstance(error(client, 404, model="no", messages=[{"role": "user", "content": "hi"}]), openai.NotFoundError)

    r = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hi"}], max_tokens=3, logprobs=True, top_logprobs=2)
    assert len(r.choices[0].logprobs.content) == 3 and len(r.choices[0].logprobs.content[0].top_logprobs) == 2, r
    count(r.usage.prompt_tokens, r.usage.completion_tokens)
    image = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    r = client.chat.completions.create(model=MODEL, max_tokens=2, messages=[
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": image}}]}])
    assert r.usage.prompt_tokens == 8, r.usage  # four of text, four of the image
    count(r.usage.prompt_tokens, r.usage.completion_tokens)

    e = client.embeddings.create(model=MODEL, input=["one", "two", "one"])
    one, two, again = (d.embedding for d in e.data)
    assert one == again != two and abs(sum(x * x for x in one) - 1) < 1e-5, len(one)
    SEEN["requests"] += 3
    SEEN["prompt"] += e.usage.prompt_tokens

    r = client.responses.create(model=MODEL, input="Say hello", max_output_tokens=5)
    assert r.status == "incomplete" and r.output_text, r
    count(r.usage.input_tokens, r.usage.output_tokens)
    said, final = "", None
    for event in client.responses.create(model=MODEL, input="Say hello", max_output_tokens=5, stream=True):
        if event.type == "response.output_text.delta":
            said += event.delta
        final = event
    assert final.type == "response.incomplete" and final.response.output_text == said == r.output_text, final
    count(final.response.usage.input_tokens, final.response.usage.output_tokens)
    with client.responses.stream(model=MODEL, input="Say hello", tools=[{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": True}]) as stream:
        for event in stream:
            pass
        final = stream.get_final_response()
    check(final.output[0].arguments)
    count(final.usage.input_tokens, final.usage.output_tokens)


def sglang():
    client = openai_chat(True)
    error(client, 400, model=MODEL, messages=[{"role": "user", "content": "hi"}], max_tokens=10**7)


def llamacpp():
    anthropic_messages()
    client = openai_chat(True)
    e = error(client, 400, model=MODEL, messages=[{"role": "user", "content": "hi"}], max_tokens=10**7)
    assert e.body["type"] == "exceed_context_size_error" and e.body["n_ctx"] > 0, e.body


def tgi():
    from huggingface_hub import InferenceClient
    from huggingface_hub.errors import OverloadedError, ValidationError  # noqa: F401

    openai_chat(False)
    client = InferenceClient(BASE)
    r = client.text_generation("Say hello to the world", max_new_tokens=8, details=True)
    assert r.details.finish_reason == "length" and len(r.details.tokens) == 8, r
    assert "".join(t.text for t in r.details.tokens) == r.generated_text, r
    count(5, r.details.generated_tokens)
    plain = client.text_generation("Say hello to the world", max_new_tokens=8)
    assert plain == r.generated_text, plain
    count(5, 8)
    said, last = "", None
    for event in client.text_generation("Say hello to the world", max_new_tokens=8, details=True, stream=True):
        said += event.token.text
        last = event
    assert last.generated_text == said == plain and last.details.finish_reason == "length", last
    count(last.details.input_length, last.details.generated_tokens)
    word = plain.split()[2]
    r = client.text_generation("Say hello to the world", max_new_tokens=50, stop=[word], details=True)
    assert r.generated_text.endswith(word) and r.details.finish_reason == "stop_sequence", r
    count(5, r.details.generated_tokens)
    r = client.text_generation("Say hello to the world", max_new_tokens=500, grammar={"type": "json", "value": SCHEMA}, details=True)
    check(r.generated_text)
    count(5, r.details.generated_tokens)
    r = client.chat_completion([{"role": "user", "content": "Say hello"}], max_tokens=5)
    count(r.usage.prompt_tokens, r.usage.completion_tokens)
    said = "".join(c.choices[0].delta.content for c in client.chat_completion([{"role": "user", "content": "Say hello"}], max_tokens=5, stream=True) if c.choices)
    assert said == r.choices[0].message.content, said
    count(r.usage.prompt_tokens, r.usage.completion_tokens)
    try:
        client.text_generation("hi", max_new_tokens=10**7)
        raise AssertionError("no error")
    except ValidationError as e:
        assert "max_new_tokens" in str(e), e


def ollama():
    import ollama as api

    anthropic_messages()
    openai_chat(True)
    client = api.Client(host=BASE)
    assert MODEL in [m.model for m in client.list().models]
    r = client.generate(MODEL, "Say hello to the world", options={"num_predict": 8})
    assert r.done and r.done_reason == "length" and r.eval_count == 8 and r.total_duration > 0 and len(r.context) == 13, r
    count(r.prompt_eval_count, r.eval_count)
    said, last = "", None
    for part in client.generate(MODEL, "Say hello to the world", options={"num_predict": 8}, stream=True):
        said += part.response
        last = part
    assert said == r.response and last.done, last
    count(last.prompt_eval_count, last.eval_count)
    messages = [{"role": "user", "content": "Say hello"}]
    r = client.chat(MODEL, messages, options={"num_predict": 5})
    count(r.prompt_eval_count, r.eval_count)
    said = ""
    for part in client.chat(MODEL, messages, options={"num_predict": 5}, stream=True):
        said += part.message.content
        last = part
    assert said == r.message.content and last.done_reason == "length", last
    count(last.prompt_eval_count, last.eval_count)
    r = client.chat(MODEL, messages, tools=[TOOL])
    check(r.message.tool_calls[0].function.arguments, bounds=False)
    count(r.prompt_eval_count, r.eval_count)
    calls = []
    for part in client.chat(MODEL, messages, tools=[TOOL], stream=True):
        calls += part.message.tool_calls or []
        last = part
    check(calls[0].function.arguments, bounds=False)
    count(last.prompt_eval_count, last.eval_count)
    r = client.chat(MODEL, messages, format=SCHEMA)
    check(r.message.content)
    count(r.prompt_eval_count, r.eval_count)
    e = client.embed(MODEL, ["one", "two"])
    assert len(e.embeddings) == 2, e
    SEEN["requests"] += 2
    SEEN["prompt"] += e.prompt_eval_count
    client.show(MODEL)
    client.ps()
    try:
        client.chat("no", messages)
        raise AssertionError("no error")
    except api.ResponseError as e:
        assert e.status_code == 404, e


{"vllm": vllm, "sglang": sglang, "tgi": tgi, "llamacpp": llamacpp, "ollama": ollama}[FACE]()
print(json.dumps(SEEN))

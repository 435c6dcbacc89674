"""Has the conversation with Debian's python3-redis: commands as JSON lines in, answers as JSON lines out. BF.* goes
through the client's own methods where it has them."""
import json
import sys

import redis

client = redis.Redis(port=int(sys.argv[1]), password=sys.argv[2] if len(sys.argv) > 2 else None)
bloom = client.bf()
for name in ("PING", "SELECT"):
    client.response_callbacks.pop(name)  # it would say True for PONG and OK


def options(words):
    said = {}
    while words[0] != "ITEMS":
        name = words.pop(0)
        if name in ("NOCREATE", "NONSCALING"):
            said["noCreate" if name == "NOCREATE" else "noScale"] = True
        else:
            said[name.lower()] = words.pop(0)
    return said, words[1:]


def ask(words):
    name, rest = words[0], words[1:]
    if name == "BF.ADD" and len(rest) == 2:
        return bloom.add(*rest)
    if name == "BF.MADD":
        return bloom.madd(*rest)
    if name == "BF.EXISTS":
        return bloom.exists(*rest)
    if name == "BF.MEXISTS":
        return bloom.mexists(*rest)
    if name == "BF.RESERVE" and len(rest) == 3:
        return "OK" if bloom.create(*rest) else "no"
    if name == "BF.INSERT":
        said, items = options(rest[1:])
        return bloom.insert(rest[0], items, **said)
    if name == "BF.INFO" and len(rest) == 1:
        info = bloom.info(rest[0])
        return ["Capacity", info.capacity, "Size", info.size, "Number of filters", info.filterNum,
                "Number of items inserted", info.insertedNum, "Expansion rate", info.expansionRate]
    return client.execute_command(*words)


def plain(value):
    if isinstance(value, bytes):
        return value.decode("latin1")
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return [plain(one) for pair in value.items() for one in pair]
    return value


for line in sys.stdin:
    try:
        answer = plain(ask(json.loads(line)))
    except redis.RedisError as error:
        answer = "!" + str(error)
    print(json.dumps(answer), flush=True)

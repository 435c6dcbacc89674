"""Debian's python3-redis as people use it: a pipeline, which is a transaction unless one says otherwise, a watched
pipeline, and a database of its own. Prints what came of each as JSON."""
import json
import sys

import redis

port = int(sys.argv[1])
client = redis.Redis(port=port)


def tried(act):
    try:
        return act()
    except redis.RedisError as error:
        return "!" + type(error).__name__ + " " + str(error)


def pipeline():
    pipe = client.pipeline()
    for item in ("a", "b", "a"):
        pipe.bf().add("py", item)
    pipe.execute_command("SIEVE.CREATE", "py-sieve")
    pipe.execute_command("SIEVE.ADD", "py-sieve", "https://example.com/")
    return pipe.execute()


def refused():
    pipe = client.pipeline()
    pipe.bf().add("py-refused", "a")
    pipe.execute_command("NOPE")
    return pipe.execute()


def watched():
    with client.pipeline() as pipe:
        pipe.watch("py")
        client.bf().add("py", "changed")
        pipe.multi()
        pipe.execute_command("BF.ADD", "py-watched", "a")
        return pipe.execute()


other = redis.Redis(port=port, db=1)
print(json.dumps({
    "pipeline": tried(lambda: [value.decode() if isinstance(value, bytes) else value for value in pipeline()]),
    "refused": tried(refused),
    "watched": tried(watched),
    "left": tried(lambda: client.exists("py-refused", "py-watched")),
    "other": tried(lambda: other.bf().add("py", "in another database")),
}))

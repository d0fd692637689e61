"""Downloads a run's champion and judges a position with numpy: python3 champion.py [URL [RUN]]"""
import json, sys, urllib.parse, urllib.request
import numpy as np

url, run = (sys.argv[1:] + ["http://127.0.0.1:7777", "backgammon"][len(sys.argv) - 1:])[:2]
get = lambda path: urllib.request.urlopen(f"{url}/api/v1/runs/{run}/{path}").read()
version = json.loads(get("versions/champion"))["version"]
data = get(f"versions/{version}/weights")                     # a safetensors file: length, header as JSON, numbers
size = int.from_bytes(data[:8], "little")
tensors = {name: np.frombuffer(data[8 + size:][slice(*t["data_offsets"])], "<f4").reshape(t["shape"])
           for name, t in json.loads(data[8:8 + size]).items() if name != "__metadata__"}
query = urllib.parse.urlencode({"position": "4HPwATDgc/ABMA", "roll": "31", "judge": version})
found = json.loads(get(f"position?{query}"))                  # the coordinator says what the network reads of it
x = np.zeros(found["inputs"]["width"], np.float32)
x[found["inputs"]["indices"]] = found["inputs"]["values"]
for layer in ("hidden", "output"):
    name = f"{found['inputs']['class']}.{layer}"
    x = 1 / (1 + np.exp(-(tensors[f"{name}.weight"] @ x + tensors[f"{name}.bias"])))
print(dict(zip(found["labels"], x.round(4).tolist())), "best:", found["rolls"][0]["plays"][0]["move"])
assert np.allclose(x, found["judgement"]["probabilities"], atol=1e-4), "not what the coordinator's kernel says"

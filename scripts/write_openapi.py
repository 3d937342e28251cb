"""Write schemas/management-api.openapi.json anew, after a change of the emulator's models."""

import json
from pathlib import Path

from reconciler.emulator.app import openapi_document

TARGET = Path(__file__).parents[1] / "schemas" / "management-api.openapi.json"

if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(openapi_document(), indent=2) + "\n")
    print(TARGET)

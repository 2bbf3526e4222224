"""The stock OpenAI client, and the proof of what it was answered.

pip install openai tallystick
"""

import os
from datetime import datetime, timezone

from openai import OpenAI
from tallystick import Client, verify

url = os.environ.get("TALLY_URL", "http://127.0.0.1:8787")
# A service in development accepts any key; elsewhere it is a key of the service, k_….
openai = OpenAI(base_url=f"{url}/v1/compute", api_key=os.environ.get("TALLY_API_KEY", "none"))

raw = openai.chat.completions.with_raw_response.create(
    model="auto",
    messages=[{"role": "user", "content": "The ferry leaves at 7:40. When does it leave?"}],
)
print(raw.parse().choices[0].message.content)

# The id stands in a header of every answer, streams included; the receipt itself is in `svc` too.
with Client(url) as tally:
    receipt = tally.get_receipt(raw.headers["x-receipt-id"])
    trust = tally.fetch_trust()
verdict = verify(receipt.text, now=datetime.now(timezone.utc), trust=trust)
print(f"receipt: intact {verdict.valid}, from a trusted issuer {verdict.issuer.trusted}")

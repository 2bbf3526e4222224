#!/usr/bin/env bash
# A receipt for some input, and one for a call of a model. Needs curl and a service.
set -euo pipefail
url=${TALLY_URL:-http://127.0.0.1:8787}

# A receipt for anything that has bytes: no account, no key. The service keeps the hash, not the input.
curl -sf "$url/v1/receipt/free" -H 'Content-Type: application/json' \
  -d '{"input": "pallet 1 moved at dock 7", "purpose": "demo"}' > receipt.json

# The service's verdict. To need nobody's word, verify offline: tally verify receipt.json
curl -sf "$url/v1/receipt/verify" -H 'Content-Type: application/json' -d @receipt.json
echo

# A call of a model. The id of its receipt is in a header, so that it survives every client.
curl -sf -D headers.txt "$url/v1/compute/chat/completions" -H 'Content-Type: application/json' \
  -d '{"messages": [{"role": "user", "content": "The ferry leaves at 7:40. When does the ferry leave?"}]}' > answer.json
id=$(tr -d '\r' < headers.txt | sed -n 's/^x-receipt-id: //ip')
curl -sf "$url/v1/receipt/$id" > call.json
echo "The receipt of the answer is $id."

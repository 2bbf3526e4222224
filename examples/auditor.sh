#!/usr/bin/env bash
# A tenant's evidence: the operator makes the tenant, the tenant's system emits receipts and exports them, and the auditor
# checks the archive without asking anybody.
# npm install --global @tallystick/cli @tallystick/server
set -euo pipefail
url=${TALLY_URL:-http://127.0.0.1:8787}

# The operator, once.
tenant=$(tally tenant create --label "acme")
key=$(tally tenant key "$tenant" --label "production")

# The tenant's system, for each thing that an auditor may ask about.
curl -sf -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
  -d '{"payload": {"loan": 42, "decision": "declined", "model": "risk-7"}, "purpose": "credit decision"}' \
  "$url/tenants/$tenant/receipts" > decision.json

# The tenant, at the end of the quarter: one archive with receipts, proofs, trust and a page that verifies them.
curl -sf -H "Authorization: Bearer $key" -o bundle.zip "$url/tenants/$tenant/evidence"

# The auditor, on a laptop without a network: whom to trust comes from elsewhere, never from the archive.
tally trust fetch --out trust.json
tally evidence verify bundle.zip --trust trust.json

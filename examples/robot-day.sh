#!/usr/bin/env bash
# A robot's day: one nano receipt for each pallet of robot-day.csv, and one bill that the receipts back.
# npm install --global @tallystick/cli
set -euo pipefail
day=$(dirname "$0")/robot-day.csv

# Each line of the day is signed when it happens; here they are read from a file.
printf 'unit,receipt\n' > units.csv
tail -n +2 "$day" | while IFS=, read -r pallet from to finished; do
  tally emit --profile nano --text "pallet $pallet from $from to $to at $finished" --out "pallet-$pallet.json"
  printf '%s,pallet-%s.json\n' "$pallet" "$pallet" >> units.csv
done

# The bill names neither robot nor customer: it holds commitments to them, which the robot's owner can open.
tally meter mint --machine SN-000117 --customer acme-7 --rate-reference contract-12 --unit pallet_moved \
  --from 2025-01-06T00:00:00Z --to 2025-01-07T00:00:00Z --billed 3 --unit-rate-minor 250 --currency EUR \
  --evidence units.csv --out bill.json

# What the customer does with the bill and the receipts: it needs no account, and after the first line no network.
tally trust fetch --out trust.json
tally meter verify bill.json --evidence units.csv --trust trust.json

/** The file that an auditor reads first. It is part of every bundle, so it never changes within a release. */
export const README = `# Evidence of one tenant's receipts

This archive holds the signed receipts that a service kept for one tenant over a period, with the proofs that they
were in its public log, and everything that is needed to check them without a network.

## Check it

1. Get the fingerprint of the service's root from somewhere else than this archive: from the service's operator,
   a contract, an earlier audit. A bundle can't vouch for itself: whoever forges the receipts can forge the keys too.
2. Open \`evidence.html\` in a browser, network or not, drop this archive on it as it came (not unpacked), and compare
   the fingerprint that it shows. A page from the archive is as good as the archive: for a verdict that does not rest
   on it, take the page from the service or from an archive that you trust, or use the command line:

       tally evidence verify bundle.zip --root sha256:…

3. A single receipt is one line of a file in \`receipts/\`; \`verify.html\` and \`tally verify\` check it alone.

## What is in it

| file | what |
| --- | --- |
| manifest.json | signed: tenant, period, size and SHA-256 of every other file, what left the room before |
| receipts/*.ndjson | the receipts, one to a line, in the order of their issue |
| anchors/*.ndjson | for each receipt its anchored hash, which metering evidence names, and its anchor: the path to a root that is on the chain, with the log's checkpoint; null where none was final yet |
| metering/*.ndjson | for each metering receipt, the digest of the evidence behind it |
| trust/trust.json | the trust bundle of the time: issuers and their keys, signed by the root |
| trust/issuer.json | the service's own record with the signed history of its keys |
| log/checkpoint.txt | the newest checkpoint of the log |
| purges.ndjson | signed records of what left the room, each with the hash of the one before |
| stream/*.ndjson | signed heads that count the receipts of the tenant, and the hashes that lead from the first to the last |
| exports.ndjson | the exports before this one, with their receipts |
| evidence.html, verify.html | the verifier for this archive, and for one receipt |

## What it shows, and what not

It shows that these receipts were signed by the service's keys and not changed since, that they were in its log when
the roots were posted, that no file was added, taken away or changed since the export, and what had left the room by
then. With the heads in \`stream/\`, it shows that no receipt that they count is missing. It does not show that the service
issued no receipts outside of its stream, that what a receipt says is true beyond what the
service signed, or that the transactions are on the chain: for that, ask a node of the chain (tally verify --rpc).

Receipts are here for 365 days, those of the profile nano for 30. What is older was recorded when it left: how many,
from when to when, and the Merkle root (RFC 6962) over their ids. Whoever kept the ids can make that root again.
`;

// Hashes of your own files in the log. The service learns the hashes and nothing else; a file needs no receipt for it.
// npm install @tallystick/sdk
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createClient } from '@tallystick/sdk';

const files = process.argv.slice(2);
if (files.length === 0) throw new Error('Usage: node anchor-hashes.mjs FILE...');
const tally = createClient({
  baseUrl: process.env.TALLY_URL ?? 'http://127.0.0.1:8787',
  // Anchoring needs a key of the service: tally apikey create --tier pro
  apiKey: process.env.TALLY_API_KEY,
});

const hashes = files.map((file) => createHash('sha256').update(readFileSync(file)).digest('base64url'));
await tally.anchorBatch(hashes);
for (const [index, hash] of hashes.entries()) {
  // Resolves once the root above the hash is final on the chain: within the hour, in development within seconds.
  const anchor = await tally.waitForAnchor(hash);
  console.log(`${files[index]}: leaf ${anchor.leaf_index}, under the root in transaction ${anchor.tx_hash}`);
}

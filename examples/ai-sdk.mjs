// Vercel's AI SDK, with the receipt of the answer in its metadata.
// npm install ai @tallystick/ai-sdk @tallystick/sdk
import { createTallystick } from '@tallystick/ai-sdk';
import { createClient } from '@tallystick/sdk';
import { streamText } from 'ai';

const url = process.env.TALLY_URL ?? 'http://127.0.0.1:8787';
const tallystick = createTallystick({
  baseURL: `${url}/v1/compute`,
  // A service in development accepts any key; elsewhere it is a key of the service, k_….
  apiKey: process.env.TALLY_API_KEY ?? 'none',
  trust: await createClient({ baseUrl: url }).fetchTrust(),
});

const result = streamText({
  model: tallystick('auto'),
  prompt: 'The ferry leaves at 7:40. When does it leave?',
});
for await (const piece of result.textStream) process.stdout.write(piece);
process.stdout.write('\n');

// The verdict is on the bytes that were sent and received: the receipt covers this request and this answer.
const { verdict } = (await result.providerMetadata).tallystick;
console.log(`receipt: intact ${verdict.valid}, from a trusted issuer ${verdict.issuer.trusted}`);

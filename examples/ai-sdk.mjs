// Vercel's AI SDK. It drops members of an answer that it does not know, so the receipt is fetched by its id.
// npm install ai @ai-sdk/openai-compatible @tallystick/sdk
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createClient, verifyReceipt } from '@tallystick/sdk';
import { streamText } from 'ai';

const url = process.env.TALLY_URL ?? 'http://127.0.0.1:8787';
const tallystick = createOpenAICompatible({
  name: 'tallystick',
  baseURL: `${url}/v1/compute`,
  apiKey: process.env.TALLY_API_KEY ?? 'none',
});

const result = streamText({
  model: tallystick('auto'),
  prompt: 'The ferry leaves at 7:40. When does it leave?',
});
for await (const piece of result.textStream) process.stdout.write(piece);
process.stdout.write('\n');

const { headers } = await result.response;
const tally = createClient({ baseUrl: url });
const { text } = await tally.getReceipt(headers['x-receipt-id']);
const verdict = await verifyReceipt(text, { trust: await tally.fetchTrust() });
console.log(`receipt: intact ${verdict.valid}, from a trusted issuer ${verdict.issuer.trusted}`);

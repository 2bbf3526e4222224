// The stock OpenAI client, and the proof of what it was answered.
// npm install openai @tallystick/sdk
import { createClient, verifyReceipt } from '@tallystick/sdk';
import OpenAI from 'openai';

const url = process.env.TALLY_URL ?? 'http://127.0.0.1:8787';
const openai = new OpenAI({
  baseURL: `${url}/v1/compute`,
  // A service in development accepts any key; elsewhere it is a key of the service, k_….
  apiKey: process.env.TALLY_API_KEY ?? 'none',
});

const { data: answer, response } = await openai.chat.completions
  .create({
    model: 'auto',
    messages: [{ role: 'user', content: 'The ferry leaves at 7:40. When does it leave?' }],
  })
  .withResponse();
console.log(answer.choices[0].message.content);

// The id stands in a header of every answer, streams included; the receipt itself is in `svc` too.
const tally = createClient({ baseUrl: url });
const { text } = await tally.getReceipt(response.headers.get('x-receipt-id'));
const verdict = await verifyReceipt(text, { trust: await tally.fetchTrust() });
console.log(`receipt: intact ${verdict.valid}, from a trusted issuer ${verdict.issuer.trusted}`);

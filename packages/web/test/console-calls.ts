import type { BrowserContext } from 'playwright-core';

/** Calls that a stub of `/v1/compute/calls` answers with. */
const MODELS = [
  ['anthropic/claude-sonnet-4-5', 'anthropic'],
  ['openai/gpt-5-mini', 'openai'],
  ['together/llama-3.3-70b-instruct', 'together'],
  ['mistral/mistral-small-3', 'mistral'],
] as const;
const PAGE = 50;
const MANY = 130;

/** A row of the list, made from its place in it: the newest is 0. */
function callAt(
  place: number,
  now: number,
  receiptId: string,
): Record<string, unknown> & { readonly at: string } {
  const [model, provider] = MODELS[(place * 7 + (place >> 2)) % MODELS.length] ?? MODELS[0];
  const failed = place % 17 === 5;
  const prompt = 400 + ((place * 2_654_435) % 9_000);
  const completion = failed ? 0 : 40 + ((place * 40_503) % 900);
  const nano = failed ? 0 : prompt * 150 + completion * 2_600;
  return {
    id: `call_${place}`,
    at: new Date(now - 4_000 - place * 171_300).toISOString(),
    receipt_id: failed ? null : receiptId,
    model,
    requested_model: 'auto',
    provider,
    route_reason: 'cheapest',
    stream: place % 3 === 0,
    prompt_tokens: prompt,
    completion_tokens: completion,
    cached_tokens: 0,
    cost_usdc: (nano / 1e9).toFixed(9),
    saving_usdc: place % 4 === 0 ? (nano / 4e9).toFixed(9) : '0.000000000',
    first_byte_ms: 180 + ((place * 97) % 400),
    total_ms: 600 + ((place * 613) % 4_200),
    status: failed ? 502 : 200,
    error_code: failed ? 'upstream_failed' : null,
    did: null,
    key: 'key_4fmx07q2zk81ab9c',
    session: null,
    tags: {},
    request_hash: null,
    purpose: null,
    profile: null,
  };
}

/** Answers the lists of calls in place of the service. @param receiptId of a receipt that the service has */
export async function stubCalls(context: BrowserContext, receiptId: string): Promise<void> {
  const now = Date.now();
  await context.route('**/v1/compute/calls?*', (route) => {
    const { searchParams } = new URL(route.request().url());
    const from = Number(searchParams.get('cursor') ?? 0);
    const all = Array.from({ length: MANY }, (_, place) => callAt(place, now, receiptId)).filter(
      (call) => ![...searchParams].some(([name, value]) => name === 'model' && call['model'] !== value),
    );
    const next = from + PAGE < all.length ? String(from + PAGE) : null;
    return route.fulfill({ json: { data: all.slice(from, from + PAGE), next_cursor: next } });
  });
  await context.route('**/v1/compute/calls/counts?*', (route) => {
    const { searchParams } = new URL(route.request().url());
    const step = { minute: 60, hour: 3_600, day: 86_400 }[searchParams.get('bucket') ?? 'hour'] ?? 3_600;
    const [from, to] = ['from', 'to'].map((name) => Number(searchParams.get(name)));
    const data = [];
    const names = searchParams.get('by') === 'model' ? MODELS.map(([model]) => model) : [null];
    for (let at = from ?? 0; at < (to ?? 0); at += step)
      for (const [place, by] of names.entries()) data.push(countsAt(at, step / (place + 1), by));
    return route.fulfill({ json: { data, counted_from: null } });
  });
  await context.route('**/v1/compute/calls/live*', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `: heartbeat\n\nevent: call\ndata: ${JSON.stringify({ ...callAt(0, now, receiptId), id: 'call_live', model: 'live-model' })}\n\n`,
    }),
  );
}

function countsAt(at: number, step: number, by: string | null): Record<string, unknown> {
  const wave = 1.4 + Math.sin(at / 13_000) + Math.sin(at / 4_100) / 3;
  const calls = Math.round((wave * step) / 55);
  return {
    at: new Date(at * 1_000).toISOString(),
    by,
    calls,
    errors: Math.round(calls * 0.012 * (1 + Math.sin(at / 7_000))),
    cost_usdc: (calls * 0.00172).toFixed(9),
    saving_usdc: (calls * 0.00041).toFixed(9),
    prompt_tokens: calls * 3_000,
    completion_tokens: calls * 300,
    p50_ms: Math.round(900 + 200 * Math.sin(at / 9_000)),
    p95_ms: Math.round(2_400 + 700 * Math.sin(at / 6_000)),
  };
}

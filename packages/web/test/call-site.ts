import { anchoredHash, fromHex, type JsonObject, toBase64url } from '@tallystick/core';
import { type Routed, startRouted, svcOf } from '../../server/test/compute.ts';
import { apiKey, runningClock } from '../../server/test/service.ts';
import { openThrough, through, call as toolCall } from '../../server/test/sessions.ts';

/** A service in front of a local upstream, with calls of each kind that the pages of a call and of a session show. */
export interface CallSite {
  readonly routed: Routed;
  readonly url: string;
  /** The key that made the calls. */
  readonly key: string;
  /** Ids: routed by the service, compressed, anchored, after a try that failed; and the body that was sent. */
  readonly routedId: string;
  readonly request: JsonObject;
  /** Of the same body, by a key that has prompts and answers kept. */
  readonly keptId: string;
  /** Streamed, of the model that was asked for by name. */
  readonly streamedId: string;
  readonly failedId: string;
  /** Made by another key. */
  readonly othersId: string;
  /** Its calls are in a signed record, but for one. */
  readonly session: string;
  /** A signed record of one call of a tool, without calls of models. */
  readonly toolSession: string;
  close(): Promise<void>;
}

/** JSON for which the extractive tier needs fewer tokens, and a question about one row. */
const ROWS = JSON.stringify(Array.from({ length: 600 }, (_, id) => ({ id, dock: id % 7, hour: id % 24 })));

export async function startCallSite(): Promise<CallSite> {
  const env = { TALLY_DEVNET: 'on', TALLY_ANCHOR_PERIOD_SECONDS: '1', TALLY_KEEP_CONTENT_DAYS: '2' };
  const routed = await startRouted({ clock: runningClock(), env });
  const { service, upstream } = routed;
  const key = await apiKey(service, 'pro');
  const other = await apiKey(service, 'pro');
  const recorder = await openThrough(through(service, key));
  const { id: session } = recorder.head;

  await recorder.tool(toolCall('read_manifest'));
  const request: JsonObject = {
    model: 'auto',
    messages: [
      { role: 'system', content: 'You answer questions about freight.' },
      { role: 'user', content: ROWS },
      { role: 'user', content: 'Which dock had row 7?' },
    ],
    svc: {
      session,
      anchor: true,
      compression: 'extractive',
      budget: 0.3,
      tags: { team: 'freight', step: '2' },
    },
  };
  upstream.play({ fault: { kind: 'status', status: 503 } });
  upstream.always({
    pieces: ['Row 7 ', 'was at ', 'dock 0.'],
    usage: { prompt: 2_400, completion: 12, cached: 128 },
  });
  const answered = svcOf(await routed.chat(request, key)).receipt;
  await recorder.reference(referenceTo(answered));
  await recorder.tool(toolCall('write_report'));
  const streamed = (await routed.stream({ svc: { session } }, key)).svc?.receipt;
  await recorder.close();
  const tools = await openThrough(through(service, key));
  await tools.tool(toolCall('list_docks'));
  await tools.close();
  const made = (await service.post('/v1/keys', { keep: true }, key)).json['key'] as string;
  const { session: _, ...svc } = request['svc'] as JsonObject;
  const kept = svcOf(await routed.chat({ ...request, svc }, { authorization: `Bearer ${made}` })).receipt;
  upstream.play({ fault: { kind: 'status', status: 400, message: 'No such option.' } });
  await routed.chat({}, key);
  const others = svcOf(await routed.chat({}, other)).receipt;
  await service.services.compute.listed();
  await anchored(routed, answered);
  const failed = (await service.get('/v1/compute/calls?status=error', key)).json['data'] as { id: string }[];
  return {
    routed,
    url: routed.url,
    key: key.authorization.slice('Bearer '.length),
    routedId: answered.receipt_id,
    request,
    keptId: kept.receipt_id,
    streamedId: streamed?.receipt_id ?? '',
    failedId: failed[0]?.id ?? '',
    othersId: others.receipt_id,
    session,
    toolSession: tools.head.id,
    close: () => routed.close(),
  };
}

function referenceTo(receipt: JsonObject & { readonly receipt_id: string }): {
  readonly receipt_id: string;
  readonly receipt_sha256: string;
} {
  return { receipt_id: receipt.receipt_id, receipt_sha256: `sha256:${anchoredHash(receipt)}` };
}

/** Resolves once a root over the receipt is final on the chain. */
async function anchored({ service }: Routed, receipt: JsonObject): Promise<void> {
  const path = `/v1/anchor/by-hash/${toBase64url(fromHex(anchoredHash(receipt)))}`;
  const until = Date.now() + 60_000;
  while (Date.now() < until) {
    if ((await service.get(path)).json['merkle_root'] !== undefined) return;
    await new Promise((tick) => setTimeout(tick, 100));
  }
  throw new Error('The receipt was not anchored in a minute.');
}

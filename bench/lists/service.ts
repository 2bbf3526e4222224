import type { ChildProcess } from 'node:child_process';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { SHORT } from '../gateway.ts';
import { allCpuSeconds, cpuSeconds, memory } from '../processes.ts';

/** A service that is running, and the API key that it is asked with. */
export interface Running {
  readonly url: string;
  readonly child: ChildProcess;
  readonly key: string;
}

/** What an export did. */
export interface Exported {
  readonly rows: number;
  readonly megabytes: number;
  readonly seconds: number;
  /** Resident memory of the service in MB: before, and at each tenth of the way. */
  readonly before: number;
  readonly during: readonly number[];
}

/** Number of bytes that the client takes at once, and a pause in milliseconds after each. */
const TAKES = 4_000_000;
const PAUSE_MS = 50;

/** Exports every call of a list as NDJSON to a client that reads in bursts, so that the answer has to wait for it. */
export async function exportCalls({ url, child, key }: Running, rows: number): Promise<Exported> {
  const before = memory(child, 'VmRSS');
  const during: number[] = [];
  const began = performance.now();
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    get(`${url}/v1/compute/calls?format=ndjson`, { headers }, resolve).on('error', reject);
  });
  if (answer.statusCode !== 200) throw new Error(`The export was answered ${answer.statusCode}.`);
  let [lines, bytes, taken] = [0, 0, 0];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    taken += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
    while (during.length < Math.floor((lines / rows) * 10)) during.push(memory(child, 'VmRSS'));
    if (taken < TAKES) continue;
    taken = 0;
    await sleep(PAUSE_MS);
  }
  return {
    rows: lines,
    megabytes: bytes / 1e6,
    seconds: (performance.now() - began) / 1_000,
    before,
    during,
  };
}

/** The times of a list while calls come in. */
export interface Crowded {
  /** Calls a second that were answered. */
  readonly calls: number;
  /** Milliseconds of each reading of the first page. */
  readonly list: readonly number[];
  /** Milliseconds since the newest call on each page ended. */
  readonly age: readonly number[];
  /** Cores that the service used, and that all others than it and this process used. */
  readonly cores: { readonly own: number; readonly others: number };
}

/** Makes calls at a fixed rate, and reads the list meanwhile ten times a second. */
export async function listUnderCalls(
  { url, key, child }: Running,
  { caller, perSecond, seconds }: { caller: string; perSecond: number; seconds: number },
): Promise<Crowded> {
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({ connections: 64 });
  const headers = { authorization: `Bearer ${caller}`, 'content-type': 'application/json' };
  let answered = 0;
  const call = async (): Promise<void> => {
    const { statusCode, body } = await request(`${url}/v1/compute/chat/completions`, {
      method: 'POST',
      headers,
      body: SHORT,
      dispatcher,
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`A call was answered ${statusCode}.`);
    answered += 1;
  };
  const list: number[] = [];
  const age: number[] = [];
  const read = async (): Promise<void> => {
    const began = performance.now();
    const { body } = await request(`${url}/v1/compute/calls?limit=50`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const text = await body.text();
    list.push(performance.now() - began);
    const { data } = JSON.parse(text) as { data: readonly { readonly at: string }[] };
    age.push(Date.now() - Date.parse(data[0]?.at ?? ''));
  };
  const open = new Set<Promise<void>>();
  const start = (work: () => Promise<void>): void => {
    const one = work().finally(() => open.delete(one));
    open.add(one);
  };
  const began = performance.now();
  const before = [child, process].map(cpuSeconds);
  const beforeAll = allCpuSeconds();
  let [made, reads] = [0, 0];
  for (;;) {
    const passed = (performance.now() - began) / 1_000;
    if (passed >= seconds) break;
    for (; made < passed * perSecond; made += 1) start(call);
    for (; reads < passed * 10; reads += 1) start(read);
    await sleep(5);
  }
  const measured = (performance.now() - began) / 1_000;
  const calls = answered / measured;
  const [own = 0, load = 0] = [child, process].map((one, at) => cpuSeconds(one) - (before[at] ?? 0));
  const others = allCpuSeconds() - beforeAll - own - load;
  const cores = { own: own / measured, others: others / measured };
  await Promise.all(open);
  await dispatcher.close();
  return { calls, list, age, cores };
}

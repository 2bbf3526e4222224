import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { openTelemetry } from './telemetry.ts';

it('says in the log that a collector refuses, and not where it is nor by which credentials', async () => {
  const collector = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.writeHead(403).end('hunter2'));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const lines: string[] = [];
  const telemetry = await openTelemetry({
    traces: { url: `http://operator:hunter2@127.0.0.1:${port}/v1/traces`, protocol: 'http/protobuf' },
    metrics: null,
    sampler: { followsParent: true, ratio: 1 },
    batch: { delayMs: 1, maxQueued: 2_048, maxBatch: 512 },
    metricsEveryMs: 60_000,
    registry: new Registry(),
    measure: async () => undefined,
    logger: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    storms: { admits: () => true },
  });
  telemetry.tracing?.begin('GET /x', { header: () => undefined, attributes: {} }).end();
  await expect.poll(() => lines).not.toEqual([]);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'telemetry could not be sent' });
  expect(lines.join('')).not.toMatch(/hunter2|127\.0\.0\.1/);
  await telemetry.close();
  collector.close();
});

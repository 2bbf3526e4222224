import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pretty, rows, toolTurn } from './compressible.ts';
import { MODEL, type Routed, startRouted } from './compute.ts';
import { ALONE } from './service.ts';

let routed: Routed;
beforeAll(async () => {
  routed = await startRouted({ env: { TALLY_PROVIDER_RETRIES: '0' } });
});
afterAll(() => routed.close());

const metrics = async () => (await routed.service.get('/metrics')).text.split('\n');

describe('the metrics of calls', () => {
  it('count calls, tokens and tries', async () => {
    await routed.chat();
    await routed.stream();
    const lines = await metrics();
    const labels = `provider="openai",model="${MODEL}"`;
    expect(lines).toContain(`compute_calls_total{${labels},outcome="complete"} 2`);
    expect(lines).toContain(`compute_tokens_total{${labels},kind="prompt"} 24`);
    expect(lines).toContain(`compute_tokens_total{${labels},kind="cache_read"} 8`);
    expect(lines).toContain(`compute_tokens_total{${labels},kind="completion"} 16`);
    expect(lines).toContain('compute_upstream_tries_total{provider="openai",outcome="answered"} 2');
    expect(lines).toContain(`compute_upstream_seconds_count{${labels}} 2`);
    expect(lines).toContain(`compute_breaker_open{${labels}} 0`);
    expect(lines).toContain('compute_ledger_reserved_usdc 0');
  });

  it('say what compression saved, by method', async () => {
    const messages = [{ role: 'user', content: 'Which?' }, ...toolTurn('a', pretty(rows(160)))];
    routed.upstream.play({ usage: { prompt: 2_000, completion: 8 } });
    const { json } = await routed.chat({ messages, svc: { explain: true } });
    const { methods } = (json['svc'] as { compression: { methods: Record<string, number> } }).compression;
    const lines = await metrics();
    expect(lines).toContain('compute_compression_calls_total{tier="lossless",changed="false"} 2');
    expect(lines).toContain('compute_compression_calls_total{tier="lossless",changed="true"} 1');
    for (const [method, tokens] of Object.entries(methods))
      expect(lines).toContain(`compute_compression_saved_tokens_total{method="${method}"} ${tokens}`);
    expect(lines).toContain('compute_compression_lost_cache_tokens_total 0');
    expect(lines).toContain('compute_compression_seconds_count 1');
  });

  // Each of several processes counts failures for itself until it gives the model a rest.
  it.runIf(ALONE)('say what failed, which model rests, and what is put aside', async () => {
    await routed.service.services.store.ledger.reserve({
      id: 'r-1',
      account: 'development',
      amount: 1_500_000_000n,
      expiresAt: 2_000_000_000,
    });
    // The model rests for two seconds.
    routed.upstream.always({ fault: { kind: 'status', status: 500 } });
    for (let i = 0; i < 5; i++) await routed.chat();
    const lines = await metrics();
    expect(lines).toContain('compute_upstream_tries_total{provider="openai",outcome="server"} 5');
    expect(lines).toContain(`compute_breaker_open{provider="openai",model="${MODEL}"} 1`);
    expect(lines).toContain('compute_ledger_reserved_usdc 1.5');
  });

  it('have no label that a caller can make up', async () => {
    // Lines about the process come with its first garbage collection of a kind, or its first socket.
    const ofService = async () =>
      (await metrics()).filter((line) => !/^(?:# \w+ )?(?:nodejs|process)_/.test(line));
    const before = (await ofService()).length;
    for (const name of ['gpt-made-up', 'x'.repeat(100)]) await routed.chat({ model: name, user: name });
    const after = await ofService();
    expect(after.join('\n')).not.toContain('made-up');
    // The routes' own statuses may be new.
    expect(after.filter((line) => line.startsWith('compute_'))).toHaveLength(
      (await metrics()).filter((line) => line.startsWith('compute_')).length,
    );
    expect(after.length - before).toBeLessThan(4);
  });
});

import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CallToolResult, Client, ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { verifyForeign } from '@tallystick/core/foreign';
import { createClient } from '@tallystick/sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectStdio, judge, progressOf, receiptIn, referenceServer, run, textIn } from './mcp-wrapped.ts';
import { type Env, serve, TALLY, tally, temporaryFolder } from './process.ts';
import { drawing } from './random.ts';

let folder: string;
let file: string;
let env: Env;
const clients: Client[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 's.jsonl');
  env = { TALLY_HOME: join(folder, 'home') };
});
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

async function connect(
  wrapped: readonly string[] | null,
  server: readonly string[],
  options?: ClientOptions,
) {
  const connected = await connectStdio(wrapped, server, env, options);
  clients.push(connected.client);
  return connected;
}

const call = (client: Client, name: string, args: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: args });

/** Starts a server that passes requests on to a service, and can hold them back. */
async function slowFront(service: string) {
  const asked = Promise.withResolvers<void>();
  const open = Promise.withResolvers<void>();
  let holds = false;
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks = await request.toArray();
    if (holds) asked.resolve();
    if (holds) await open.promise;
    const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
    const answer = await fetch(`${service}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': type },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    response.statusCode = answer.status;
    response.setHeader('content-type', answer.headers.get('content-type') ?? 'application/json');
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
  const server = createServer((request, response) => void forward(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Holds requests back from now on, and resolves when the first has come. */
    hold: (): Promise<void> => {
      holds = true;
      return asked.promise;
    },
    letGo: (): void => {
      holds = false;
      open.resolve();
    },
    close: () => server.close(),
  };
}

/** A server that writes what its argument says, and then what it reads. */
const scripted = (script: string): string => {
  const path = join(folder, 'server.mjs');
  writeFileSync(path, script);
  return path;
};

/** The line of a client that calls a tool. */
const toolCall = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } })}\n`;

describe('the reference servers behind the proxy', () => {
  it('lose none of 10,000 calls', { timeout: 600_000 }, async () => {
    const path = join(folder, 'a.txt');
    writeFileSync(path, 'hello');
    const servers = [
      {
        server: [referenceServer('everything')],
        calls: 8_000,
        name: 'echo',
        args: (n: number) => ({ message: `m${n}` }),
        expected: (n: number) => `Echo: m${n}`,
      },
      {
        server: [referenceServer('filesystem'), folder],
        calls: 1_000,
        name: 'read_text_file',
        args: () => ({ path }),
        expected: () => 'hello',
      },
      {
        server: [referenceServer('memory')],
        calls: 1_000,
        name: 'search_nodes',
        args: (n: number) => ({ query: `q${n}` }),
        expected: () => '{\n  "entities": [],\n  "relations": []\n}',
      },
    ];
    for (const { server, calls, name, args, expected } of servers) {
      const session = join(folder, `${name}.jsonl`);
      const { client } = await connect(['--session', session], server);
      const seen = new Set<string>();
      let next = 0;
      const caller = async (): Promise<void> => {
        for (let n = next++; n < calls; n = next++) {
          const result = await call(client, name, args(n));
          expect(textIn(result)).toBe(expected(n));
          seen.add(receiptIn(result).call.session.seq);
        }
      };
      await Promise.all(Array.from({ length: 16 }, caller));
      await client.close();
      expect(seen.size).toBe(calls);
      const verdict = await judge(session);
      expect(verdict).toMatchObject({ valid: true, state: 'closed', count: calls + 2, faults: [] });
      expect(
        verdict.entries.filter((entry) => entry.call.kind === 'tool' && entry.call.outcome === 'completed'),
      ).toHaveLength(calls);
    }
  });

  it('lose nothing that was acknowledged when the proxy is killed, and go on', async () => {
    const draw = drawing('mcp-wrap');
    const acknowledged: { id: string; seq: number }[] = [];
    for (let round = 0; round < 6; round++) {
      const { client, pid } = await connect(['--session', file], [referenceServer('everything')]);
      const enough = draw.below(60) + 1;
      let answered = 0;
      const caller = async (): Promise<void> => {
        for (;;) {
          const {
            receipt_id: id,
            call: { session },
          } = receiptIn(await call(client, 'echo', { message: 'x' }));
          acknowledged.push({ id, seq: Number(session.seq) });
          answered += 1;
          if (answered === enough) process.kill(pid, 'SIGKILL');
        }
      };
      await Promise.allSettled(Array.from({ length: 8 }, caller));
      const verdict = await judge(file);
      expect(verdict).toMatchObject({ valid: true, state: 'open', faults: [] });
      const ids = new Map(verdict.entries.map(({ seq, receipt_id }) => [seq, receipt_id]));
      for (const { id, seq } of acknowledged) expect(ids.get(seq)).toBe(id);
    }
    const last = await connect(['--session', file], [referenceServer('everything')]);
    const slow = call(last.client, 'trigger-long-running-operation', { duration: 10, steps: 1 });
    await vi.waitFor(() => expect(readFileSync(`${file}.journal`, 'utf8')).toContain('long-running'), {
      timeout: 60_000,
    });
    process.kill(last.pid, 'SIGKILL');
    await expect(slow).rejects.toThrow('closed');
    const { client, stderr } = await connect(['--session', file], [referenceServer('everything')]);
    await call(client, 'echo', { message: 'x' });
    await client.close();
    const verdict = await judge(file);
    expect(verdict).toMatchObject({ valid: true, state: 'closed', faults: [] });
    expect(
      verdict.entries.some((entry) => entry.call.kind === 'tool' && entry.call.outcome === 'unknown'),
    ).toBe(true);
    expect(stderr()).toContain('had no answer');
  });

  it('answer as they do without it', async () => {
    const script = async (wrapped: readonly string[] | null) => {
      const { client } = await connect(wrapped, [referenceServer('everything')]);
      const without = (result: CallToolResult) => {
        const { _meta: meta = {}, ...rest } = result;
        const { 'tallystick/receipt': _receipt, ...others } = meta;
        return { ...rest, others };
      };
      return {
        server: [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()],
        tools: await client.listTools(),
        prompts: await client.listPrompts(),
        prompt: await client.getPrompt({ name: 'simple-prompt' }),
        resources: await client.listResources(),
        templates: await client.listResourceTemplates(),
        image: without(await call(client, 'get-tiny-image')),
        structured: without(await call(client, 'get-structured-content', { location: 'Chicago' })),
        wrong: without(await call(client, 'get-sum', { a: 'x' })),
        ping: await client.ping(),
      };
    };
    expect(await script(['--session', file])).toEqual(await script(null));
  });

  it('tell progress, sample, elicit and are cancelled through it', async () => {
    const { client } = await connect(['--session', file], [referenceServer('everything')], {
      capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } },
    });
    client.setRequestHandler('sampling/createMessage', ({ params }) => ({
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: `sampled ${JSON.stringify(params.messages)}` },
    }));
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept' as const,
      content: { name: 'Ada' },
    }));
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///tmp' }] }));
    expect(textIn(await call(client, 'trigger-sampling-request', { prompt: 'why' }))).toContain('sampled');
    expect(textIn(await call(client, 'trigger-elicitation-request'))).toContain('provided');
    const steps = progressOf(client);
    const long = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } };
    await client.callTool(long, { onprogress: () => {} });
    expect(steps).toEqual([1, 2, 3, 4]);
    const stop = new AbortController();
    const cancelled = client.callTool(
      { ...long, arguments: { duration: 100, steps: 1_000 } },
      { signal: stop.signal, onprogress: () => stop.abort('enough') },
    );
    await expect(cancelled).rejects.toThrow('enough');
    expect(textIn(await call(client, 'echo', { message: 'still here' }))).toBe('Echo: still here');
    await client.close();
    const verdict = await judge(file);
    expect(verdict).toMatchObject({ valid: true, state: 'closed' });
    const outcomes = verdict.entries.flatMap((entry) =>
      entry.call.kind === 'tool' ? entry.call.outcome : [],
    );
    expect(outcomes.toSorted()).toEqual(['cancelled', 'completed', 'completed', 'completed', 'completed']);
  });
});

describe('tally mcp wrap', () => {
  it('makes a key and a session of its own, and the session verifies by that key', async () => {
    const { client, stderr } = await connect([], [referenceServer('memory')]);
    const result = await call(client, 'read_graph');
    await client.close();
    const path = /The session is in (\S+)\.$/m.exec(stderr())?.[1] ?? '';
    expect(path.startsWith(join(folder, 'home/sessions'))).toBe(true);
    const key = JSON.parse(readFileSync(join(folder, 'home/recorder.json'), 'utf8'));
    expect(statSync(join(folder, 'home/recorder.json')).mode & 0o777).toBe(0o600);
    const verified = await tally(['session', 'verify', path, '--key', key.key_id], env);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
    const receipt = join(folder, 'receipt.json');
    writeFileSync(receipt, JSON.stringify(receiptIn(result)));
    expect((await tally(['verify', receipt, '--json'], env)).stdout).toContain('"integrity": true');
  });

  it('refuses by policy, and asks the user where the client can', async () => {
    const policy = ['--session', file, '--deny', 'get-*', '--ask', 'echo'];
    const { client } = await connect(policy, [referenceServer('everything')], {
      capabilities: { elicitation: {} },
    });
    const answers: ('accept' | 'decline')[] = ['accept', 'decline'];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      expect(params.message).toContain('"echo" of "mcp-servers/everything"');
      return { action: answers.shift() ?? 'cancel' };
    });
    const denied = await call(client, 'get-env');
    expect(denied.isError).toBe(true);
    expect(textIn(denied)).toBe('The tool "get-env" was not called: the policy of the proxy denies it.');
    expect(textIn(await call(client, 'echo', { message: 'a' }))).toBe('Echo: a');
    expect((await call(client, 'echo', { message: 'b' })).isError).toBe(true);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('get-env');
    await client.close();
    const { entries } = await judge(file);
    expect(entries.flatMap((entry) => (entry.call.kind === 'tool' ? entry.call.outcome : []))).toEqual([
      'denied',
      'completed',
      'denied',
    ]);
  });

  it('has a service sign, which sees hashes only', async () => {
    const data = { TALLY_DATA_DIR: join(folder, 'data'), TALLY_DEVNET: 'off' };
    const service = await serve(data);
    const { key } = JSON.parse((await tally(['apikey', 'create', '--tier', 'scale', '--json'], data)).stdout);
    env = { ...env, TALLY_API_KEY: key };
    const { client } = await connect(['--session', file, '--url', service.url], [referenceServer('memory')]);
    const result = await call(client, 'read_graph');
    expect(receiptIn(result)).toMatchObject({
      declared: ['call', 'request', 'response'],
      call: { outcome: 'completed' },
    });
    await client.close();
    expect(await judge(file)).toMatchObject({
      valid: true,
      state: 'closed',
      count: 3,
      recorder: { by: 'service' },
    });
    expect(existsSync(join(folder, 'home/recorder.json'))).toBe(false);
    await service.kill('SIGTERM');
    const { code, stderr } = await tally(['mcp', 'wrap', '--url', service.url, '--', 'x'], env);
    expect(stderr).toContain(service.url);
    expect(code).not.toBe(0);
  });

  it('closes the session also where it is told to end meanwhile', async () => {
    const data = { TALLY_DATA_DIR: join(folder, 'data'), TALLY_DEVNET: 'off' };
    const service = await serve(data);
    const { key } = JSON.parse((await tally(['apikey', 'create', '--tier', 'scale', '--json'], data)).stdout);
    env = { ...env, TALLY_API_KEY: key };
    const front = await slowFront(service.url);
    const { client, pid } = await connect(
      ['--session', file, '--url', front.url],
      [referenceServer('memory')],
    );
    await call(client, 'read_graph');
    const asked = front.hold();
    const closed = client.close();
    await asked;
    process.kill(pid, 'SIGTERM');
    front.letGo();
    await closed;
    expect(await judge(file)).toMatchObject({ valid: true, state: 'closed', count: 3 });
    front.close();
    await service.kill('SIGTERM');
  });

  it('has a service anchor what its own key signs', async () => {
    const data = { TALLY_DATA_DIR: join(folder, 'data'), TALLY_DEVNET: 'off' };
    const service = await serve(data);
    const { key } = JSON.parse((await tally(['apikey', 'create', '--tier', 'scale', '--json'], data)).stdout);
    env = { ...env, TALLY_API_KEY: key };
    const { client } = await connect(
      ['--session', file, '--anchor-at', service.url],
      [referenceServer('memory')],
    );
    await call(client, 'read_graph');
    await client.close();
    const { valid, state, recorder, head } = await judge(file);
    expect({ valid, state, by: recorder?.by }).toEqual({ valid: true, state: 'closed', by: 'own_key' });
    const anchors = createClient({ baseUrl: service.url, apiKey: key });
    const hash = head?.slice('sha256:'.length) ?? '';
    await vi.waitFor(() => anchors.getAnchorByHash(hash), { timeout: 60_000 });
    await service.kill('SIGTERM');
  });

  it('writes Acta receipts beside the session, and goes on with their chain', async () => {
    const acta = join(folder, 's.acta.jsonl');
    for (const deny of ['echo', 'none']) {
      const { client } = await connect(
        ['--session', file, '--format', 'acta', '--deny', deny],
        [referenceServer('everything')],
      );
      await call(client, 'echo', { message: 'x' });
      process.kill(
        client.transport instanceof StdioClientTransport ? (client.transport.pid ?? 0) : 0,
        'SIGKILL',
      );
      appendFileSync(acta, '{"cut');
    }
    const { client } = await connect(
      ['--session', file, '--format', 'acta'],
      [referenceServer('everything')],
    );
    await call(client, 'echo', { message: 'x' });
    await client.close();
    const { recorder, entries } = await judge(file);
    const verdict = await verifyForeign(readFileSync(acta), {
      now: Date.now(),
      keys: [recorder?.key_id ?? ''],
    });
    expect(verdict).toMatchObject({ family: 'acta', valid: true });
    expect(
      verdict?.checks.filter(({ name }) => name === 'chain' || name === 'sequence').map(({ ok }) => ok),
    ).toEqual([true, true]);
    // Of a folder, the sessions alone are verified: intact, and of a key that nobody pinned.
    expect((await tally(['session', 'verify', folder, '--quiet'], env)).code).toBe(3);
    const receipts = readFileSync(acta, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).payload);
    expect(receipts.map(({ decision }) => decision)).toEqual(['deny', 'allow', 'allow']);
    expect(receipts.map(({ context }) => context.receipt_sha256)).toEqual(
      entries.filter((entry) => entry.call.kind === 'tool').map(({ sha256 }) => sha256),
    );
  });

  it('passes bytes, standard error and the exit status of a server', async () => {
    const server = scripted(`
      process.stderr.write('from the server, ' + process.env.OTHER + process.env.TALLY_API_KEY + '\\n');
      process.stdout.write('no JSON at all\\n{"jsonrpc":"2.0",  "method":"notifications/x"}\\r\\n');
      process.stdin.on('data', (chunk) => process.stdout.write(chunk)).on('end', () => {
        process.stdout.write('without an end');
        process.exitCode = 7;
      });`);
    env = { ...env, OTHER: 'passed, ', TALLY_API_KEY: 'k' };
    const input = ' {"jsonrpc":"2.0","id":1,\t"method":"x"}\n\n{"jsonrpc":"2.0","method":"no end"}';
    const said = await run(
      [TALLY, 'mcp', 'wrap', '--session', file, '--', process.execPath, server],
      input,
      env,
    );
    expect(said.stdout).toBe(
      `no JSON at all\n{"jsonrpc":"2.0",  "method":"notifications/x"}\r\n${input}\nwithout an end\n`,
    );
    expect(said.stderr).toContain('from the server, passed, undefined\n');
    expect(said).toMatchObject({ code: 7, signal: null });
  });

  it('leaves no file where no tool is called, so the next start is the first in its file', async () => {
    const probe = scripted(`process.stdin.resume();`);
    const wrapped = ['--session', file, '--format', 'acta'];
    const said = await run([TALLY, 'mcp', 'wrap', ...wrapped, '--', process.execPath, probe], '', env);
    expect(said).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('No tool was called, so there is no session.'),
    });
    expect(readdirSync(folder).filter((name) => name.startsWith('s.'))).toEqual([]);
    const { client } = await connect(wrapped, [referenceServer('memory')]);
    await call(client, 'read_graph');
    await client.close();
    expect(await judge(file)).toMatchObject({ valid: true, state: 'closed', count: 3 });
  });

  it('passes signals, and closes the session when the server has ended by one', async () => {
    const server = scripted(`
      process.stdin.once('data', () => process.stdout.write('{}\\n'));
      setInterval(() => {}, 1000);`);
    const said = await run(
      [TALLY, 'mcp', 'wrap', '--session', file, '--', process.execPath, server],
      toolCall,
      env,
      (kill) => kill('SIGTERM'),
    );
    expect(said).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(await judge(file)).toMatchObject({ state: 'closed', count: 3 });
  });

  it('records a call as unknown whose server dies', async () => {
    const server = scripted(`process.stdin.once('data', () => process.exit(3));`);
    const said = await run(
      [TALLY, 'mcp', 'wrap', '--session', file, '--', process.execPath, server],
      toolCall,
      env,
    );
    expect(said.code).toBe(3);
    expect((await judge(file)).entries[1]?.call).toMatchObject({ tool: 'x', outcome: 'unknown' });
  });

  it.each([
    [['--', 'no-such-program-at-all'], "no-such-program-at-all can't be started: there is no such program."],
    [[], 'Name the server: either a command after --, or --server URL.'],
    [['--server', 'ftp://x'], 'is not the URL of a server'],
    [['--key', 'a', '--url', 'http://x', '--', 'x'], 'Give --key or --url, not both.'],
    [['--listen', '1', '--', 'x'], '--listen works with --server only'],
    [['--listen', '0.0.0.0:1', '--server', 'http://x/'], 'name one address of this machine'],
    [['--header-from', 'A=NO_SUCH', '--server', 'http://x/'], 'there is no variable NO_SUCH'],
  ])('says what is wrong with %j', async (args, message) => {
    const { code, stderr } = await tally(['mcp', 'wrap', ...args], env);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(existsSync(file)).toBe(false);
  });
});

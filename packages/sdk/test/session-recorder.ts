// A recorder that is killed: records calls in the file of its first argument until it is, ten at a time, and prints a line when a
// call has begun and when its receipt is acknowledged. The second argument begins the names of its tools.
import { openSessionFile } from '../src/session-file/index.ts';

const [path = '', name = ''] = process.argv.slice(2);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const server = { name: 'files', version: null, transport: 'stdio', identity_sha256: null } as const;

say('starting');
const session = await openSessionFile(path, { key: new Uint8Array(32).fill(1) });
say('open');
await Promise.all(
  Array.from({ length: 10 }, async (_, lane) => {
    for (let number = 0; ; number++) {
      const tool = `${name}-${lane}-${number}`;
      const begun = await session.begin({ tool, server, arguments: { number } });
      say(`begun ${tool}`);
      await session.end(begun, { outcome: 'completed', result: { number } });
      say(`kept ${tool}`);
    }
  }),
);

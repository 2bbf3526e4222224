import { listen } from '../src/app/listen.ts';

/**
 * Answers `/slow` once a line comes in on standard input; says what happens, a word a line. With the argument `stuck` it
 * says its port and does not open.
 */
const stuck = process.argv[2] === 'stuck';

const { address, closed } = await listen({
  host: '127.0.0.1',
  port: 0,
  open: async ({ port }) => {
    if (stuck) {
      console.log(port);
      await new Promise((resolve) => process.stdin.once('data', resolve));
    }
    return {
      async fetch(request) {
        if (!request.url.endsWith('/slow')) return new Response('ok');
        console.log('slow');
        await new Promise((resolve) => process.stdin.once('data', resolve));
        return new Response('done');
      },
      async close() {
        console.log('closed');
      },
    };
  },
});
console.log(address.port);
await closed;
process.stdin.destroy();

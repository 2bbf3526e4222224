// A child of the benchmark: a collector that takes every export and counts the requests that its spans tell of. Says how
// many there were, in JSON, for each line on standard input.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';

/** In each span of a request to the service, and in no other. */
const MARK = Buffer.from('http.route');

let requests = 0;
const server = createServer((incoming, outgoing) => {
  void buffer(incoming).then((body) => {
    for (let at = body.indexOf(MARK); at >= 0; at = body.indexOf(MARK, at + 1)) requests += 1;
    return outgoing.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
});
createInterface({ input: process.stdin }).on('line', () =>
  process.stdout.write(`${JSON.stringify(requests)}\n`),
);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`ready on http://127.0.0.1:${port}\n`);
});

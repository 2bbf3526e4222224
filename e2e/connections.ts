// Imported by a service before everything else: records, in the file that CONNECTIONS names, where the service connects to.
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const file = process.env['CONNECTIONS'] ?? '';
const note = (target: string): void => appendFileSync(file, `${target}\n`);

subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket };
  socket.on('lookup', (_error, _address, _family, host) => note(`lookup ${host}`));
  socket.on('connectionAttempt', (ip, port) => note(`${ip}:${port}`));
});

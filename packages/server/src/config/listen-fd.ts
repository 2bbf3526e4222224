import type { EnvReader } from './reader.ts';

/** The descriptor of the first socket that systemd passes. */
const FIRST_FD = 3;

/**
 * The listening socket that systemd has opened for this process, as a file descriptor; null where there is none, or where
 * it was meant for a parent of this process. Source: sd_listen_fds(3).
 */
export function readListenFd(read: EnvReader): number | null {
  const count = read.optional('LISTEN_FDS', {});
  if (count === null || read.optional('LISTEN_PID', {}) !== String(process.pid)) return null;
  if (count !== '1') {
    read.fault(
      'LISTEN_FDS',
      `is ${JSON.stringify(count)}, but the service takes one socket: keep one Listen line in the socket unit`,
    );
  }
  return FIRST_FD;
}
